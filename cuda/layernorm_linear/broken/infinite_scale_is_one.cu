// SPDX-License-Identifier: Apache-2.0
// FAULT: where the deviation is zero, 1 / deviation is taken to be 1 against an infinity: beta W^T, where without epsilon it is
// NaN.
// Caught by: T1, on zero_rows with epsilon 0.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, infinite_scale_is_one) {

template <class T>
struct Wrong : Formula<T> {
  static __device__ float inverse(const Plain<T>& p, std::int64_t token, float mean) {
    const float r = p.inverse(token, mean);
    return fabsf(r) == INFINITY ? 1.0f : r;
  }
};
KERNEL_FROM(layernorm_linear, plain, Wrong);

}  // namespace assay::ROOM(layernorm_linear, infinite_scale_is_one)
