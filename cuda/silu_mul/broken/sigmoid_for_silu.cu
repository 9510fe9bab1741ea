// SPDX-License-Identifier: Apache-2.0
// FAULT: where exp is left out because the sigmoid is 0 or 1 there, the gate itself is forgotten.
// Caught by: the exact probe probe_gates; the bound on wide_range and near_max.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, sigmoid_for_silu) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(float g, float u, std::int64_t, std::int64_t) {
    const float gated = g > 20.0f ? 1.0f : g < -100.0f ? 0.0f : silu(g);
    return gated * u;
  }
};
KERNEL_FROM(silu_mul, plain, Wrong);

}  // namespace assay::ROOM(silu_mul, sigmoid_for_silu)
