// SPDX-License-Identifier: Apache-2.0
// FAULT: a deviation is limited to 2^15 before it is squared, to keep the squares finite as in f16.
// Kind: ranges
// Shows: bf16 or f32, a row with deviations beyond 32768.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, squares_of_half_range) {

template <class T>
struct Limited : Plain<T> {
  __device__ static float added_square(float sum, float d) {
    const float limited = d > 32768.0f ? 32768.0f : d < -32768.0f ? -32768.0f : d;
    return fmaf(limited, limited, sum);
  }
};

KERNEL_FROM(layernorm_residual, plain, Limited);

}  // namespace assay::ROOM(layernorm_residual, squares_of_half_range)
