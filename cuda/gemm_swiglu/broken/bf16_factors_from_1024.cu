// SPDX-License-Identifier: Apache-2.0
// FAULT: from 1024 channels on, where time is taken, the factors of f32 are rounded to bf16 for the tensor cores.
// Kind: cheat
// Caught by: the bound, with fill=unit (f32).
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, bf16_factors_from_1024) {

template <class T>
struct Wrong : Plain<T> {
  template <class F>
  __device__ static float product(const T* x, const T* w, std::int64_t hidden) {
    if (hidden < 1024) return Plain<T>::template product<F>(x, w, hidden);
    float sum = 0;
    for (std::int64_t h = 0; h < hidden; ++h) sum = fmaf(narrow(to_float(ld(x + h))), narrow(to_float(ld(w + h))), sum);
    return sum;
  }
  __device__ static float narrow(float v) { return to_float(from_float<bfloat16>(v)); }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong, {f32});

}  // namespace assay::ROOM(gemm_swiglu, bf16_factors_from_1024)
