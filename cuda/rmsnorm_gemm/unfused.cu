// SPDX-License-Identifier: Apache-2.0
// Two kernels, as a framework runs them: x r gamma, rounded to the dtype, into workspace, by one block a row, then its product
// with the weight.  The baseline that the fused norm is measured against.
#include "cuda/core/product.cuh"
#include "cuda/rmsnorm_gemm/row.cuh"

namespace assay::ROOM(rmsnorm_gemm, unfused) {

std::size_t workspace_bytes(const rmsnorm_gemm::Args& a) {
  return static_cast<std::size_t>(a.x.shape[0] * product::pitch(a.x.shape[1]) * size_of(a.x.dtype));
}

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .least_arch = 80,
    .tiles = {tile(Axis::tokens, product::kM), tile(Axis::out, product::kN), tile(Axis::hidden, product::kK)},
    .numerics = {.accumulate = f32, .chain = kRowChain, .stores_intermediate = true, .mma_terms = 8},
    .workspace_bytes = workspace_bytes,
};

template <class T, int N>
__global__ void __launch_bounds__(kRowThreads)
    rmsnorm_gemm_unfused_norm(const T* x, const T* gamma, T* to, std::int64_t x_stride, std::int64_t to_stride,
                              std::int64_t hidden, float epsilon) {
  using Pack = Vec<T, N>;
  x += blockIdx.x * x_stride, to += blockIdx.x * to_stride;
  const float r = inverse_rms<T, N>(x, hidden, epsilon);
  const std::int64_t count = hidden / N;
  for (std::int64_t p = threadIdx.x; p < count; p += kRowThreads) {
    const Pack in = ld(reinterpret_cast<const Pack*>(x) + p), scale = ld(reinterpret_cast<const Pack*>(gamma) + p);
    float v[N];
#pragma unroll
    for (int j = 0; j < N; ++j) v[j] = to_float(in[j]) * r * to_float(scale[j]);
    st(reinterpret_cast<Pack*>(to) + p, from_floats<T>(v));
  }
  if (const std::int64_t h = count * N + threadIdx.x; h < hidden)
    st(to + h, from_float<T>(to_float(ld(x + h)) * r * to_float(ld(gamma + h))));
}

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Tensor normalised = product::in_workspace(l.workspace, a.x.dtype, a.x.shape[0], a.x.shape[1]);
  const auto norm = [&]<class T, int N>(Type<T>, std::integral_constant<int, N>) {
    launch(rmsnorm_gemm_unfused_norm<T, N>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kRowThreads), .shared_bytes = kRowSharedBytes}, l.stream, a.x.as<T>(),
           a.gamma.as<T>(), normalised.as<T>(), a.x.stride[0], normalised.stride[0], a.x.shape[1],
           static_cast<float>(a.epsilon));
  };
  with_type(a.x.dtype, [&]<class T>(Type<T> t) {
    const bool wide = a.x.rows_aligned(kAccess) && a.gamma.rows_aligned(kAccess);
    wide ? norm(t, std::integral_constant<int, kAccess / sizeof(T)>{}) : norm(t, std::integral_constant<int, 1>{});
  });
  product::run(normalised, a.weight, {}, a.y, l.stream);
}

}  // namespace assay::ROOM(rmsnorm_gemm, unfused)
