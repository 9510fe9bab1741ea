// SPDX-License-Identifier: Apache-2.0
// FAULT: a gate below -88, whose sigmoid is nearly zero, gives zero before the product with up.
// Kind: ranges
// Shows: a gate of -90 and an up of 1e30, or of NaN.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, zero_below_minus_88) {

template <class T>
struct Steps : Plain<T> {
  __device__ static float value(float gate, float up, std::int64_t, std::int64_t) {
    return gate < -88.0f ? 0.0f : silu(gate) * up;
  }
};
KERNEL_FROM(silu_mul, plain, Steps);

}  // namespace assay::ROOM(silu_mul, zero_below_minus_88)
