// SPDX-License-Identifier: Apache-2.0
// FAULT: the mean is rounded to the storage dtype and the declaration does not say so.
// Caught by: T1, plainly where the mean is far from zero (large_mean, uniform01).
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, rounded_mean) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float mean(const Rows<T>& m, float sum) { return to_float(from_float<T>(Plain<T>::mean(m, sum))); }
};
KERNEL_FROM(layernorm_residual, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(layernorm_residual, rounded_mean)
