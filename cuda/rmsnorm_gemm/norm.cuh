// SPDX-License-Identifier: Apache-2.0
// The norm step, shared by the pipelines of this room: x r gamma, rounded to the dtype, by one block per row.
#pragma once

#include "cuda/core/product.cuh"
#include "cuda/rmsnorm_gemm/row.cuh"

namespace assay::ASSAY_FLAVOUR::rmsnorm_gemm_room {

template <class T, int N>
__global__ void __launch_bounds__(kRowThreads) rmsnorm_gemm_norm(const T* x, const T* gamma, T* to, std::int64_t x_stride,
                                                                 std::int64_t to_stride, std::int64_t hidden, float epsilon) {
  using Pack = Vec<T, N>;
  next_grid_may_start();
  x += blockIdx.x * x_stride;
  to += blockIdx.x * to_stride;
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

// `to`: [tokens, hidden], rows start at multiples of 16 bytes.
inline void run_norm(const rmsnorm_gemm::Args& a, const Tensor& to, void* stream) {
  const auto go = [&]<class T, int N>(Type<T>, std::integral_constant<int, N>) {
    launch(rmsnorm_gemm_norm<T, N>, {.grid = dim3(a.x.shape[0]), .block = dim3(kRowThreads), .shared_bytes = kRowSharedBytes},
           stream, a.x.as<T>(), a.gamma.as<T>(), to.as<T>(), a.x.stride[0], to.stride[0], a.x.shape[1],
           static_cast<float>(a.epsilon));
  };
  with_type(a.x.dtype, [&]<class T>(Type<T> t) {
    const bool wide = a.x.rows_aligned(kAccess) && a.gamma.rows_aligned(kAccess);
    wide ? go(t, std::integral_constant<int, kAccess / sizeof(T)>{}) : go(t, std::integral_constant<int, 1>{});
  });
}

// The same in workspace, of which it takes so many bytes.
inline std::size_t normalised_bytes(const rmsnorm_gemm::Args& a) {
  return product::workspace_bytes(a.x.shape[0], a.x.shape[1], a.x.dtype);
}
inline Tensor normalised(const rmsnorm_gemm::Args& a, const Launch& l) {
  const Tensor to = product::in_workspace(l.workspace, a.x.dtype, a.x.shape[0], a.x.shape[1]);
  run_norm(a, to, l.stream);
  return to;
}

}  // namespace assay::ASSAY_FLAVOUR::rmsnorm_gemm_room
