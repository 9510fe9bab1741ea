// SPDX-License-Identifier: Apache-2.0
// The family "dependent" (core/kernel_family.cuh): r of every token into workspace by one launch, and the product by another that
// may begin before the first has ended.
#pragma once

#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ASSAY_FLAVOUR::rmsnorm_gemm_room {

// Every step as it should be.
template <class T>
struct PlainDependent {
  // r of a token; the launch before stores it.
  __device__ static float scale_of(const float* scales, std::int64_t token) {
    wait_for_previous_grid();
    return ld(scales + token);
  }
  // What is launched between the two.
  static void between(const Operands<T>&, void* /*stream*/) {}
};

template <class T>
__global__ void rmsnorm_gemm_scales(Operands<T> p, float* scales) {
  next_grid_may_start();
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (token < p.tokens) st(scales + token, Plain<T>::template scale<Plain<T>>(p, token));
}
template <class T, class F>
__global__ void rmsnorm_gemm_dependent(Operands<T> p, const float* scales) {
  const Place at = Plain<T>::place();
  if (at.o >= p.out) return;
  const float r = F::scale_of(scales, at.token);
  float sum = 0;
  for (std::int64_t h = 0; h < p.hidden; ++h)
    sum = Plain<T>::added(sum, p.x_at(at.token, h), r, p.gamma_at(h), p.weight_at(at.o, h));
  st(p.y + at.token * p.y_stride + at.o, from_float<T>(sum));
}

template <template <class> class F>
constexpr KernelTraits<rmsnorm_gemm> dependent_traits(DTypes dtypes = kEveryType) {
  KernelTraits<rmsnorm_gemm> traits = plain_traits<Plain>(dtypes);
  traits.only_arch = 90;
  traits.workspace_bytes = [](const rmsnorm_gemm::Args& a) { return static_cast<std::size_t>(a.y.shape[0]) * sizeof(float); };
  return traits;
}

template <template <class> class F>
void run_dependent(const rmsnorm_gemm::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands<T>(a);
    auto* const scales = static_cast<float*>(l.workspace);
    launch(rmsnorm_gemm_scales<T>, {.grid = dim3(ceil_div(p.tokens, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream, p,
           scales);
    F<T>::between(p, l.stream);
    launch(rmsnorm_gemm_dependent<T, F<T>>,
           {.grid = Plain<T>::grid(p, kPlainThreads), .block = dim3(kPlainThreads), .dependent = true}, l.stream, p, scales);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::rmsnorm_gemm_room
