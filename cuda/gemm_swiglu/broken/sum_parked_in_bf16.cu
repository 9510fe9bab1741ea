// SPDX-License-Identifier: Apache-2.0
// FAULT: both sums are parked in bf16 once every 4096 channels, between launches over slices of them: right for shorter rows.
// Kind: precision
// Caught by: the bound, with fill=unit (f16), in edges alone.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, sum_parked_in_bf16) {

template <class T>
struct Wrong : Plain<T> {
  template <class F>
  __device__ static float product(const T* x, const T* w, std::int64_t hidden) {
    float sum = 0;
    for (std::int64_t h = 0; h < hidden; ++h) {
      if (h > 0 && h % 4096 == 0) sum = to_float(from_float<bfloat16>(sum));
      sum = F::added(sum, F::x_at(x, h), to_float(ld(w + h)));
    }
    return sum;
  }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong);

}  // namespace assay::ROOM(gemm_swiglu, sum_parked_in_bf16)
