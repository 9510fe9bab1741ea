// SPDX-License-Identifier: Apache-2.0
// FAULT: silu as gate e^gate / (1 + e^gate): inf / inf from gate = 88.8 on.
// Caught by: the class of the result, wherever a gate is large: bends, large_mean_100, near_max.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, silu_overflows) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(float g, float u, std::int64_t, std::int64_t) {
    const float e = expf(g);
    return g * e / (1.0f + e) * u;
  }
};
KERNEL_FROM(silu_mul, plain, Wrong);

}  // namespace assay::ROOM(silu_mul, silu_overflows)
