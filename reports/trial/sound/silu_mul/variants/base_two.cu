// SPDX-License-Identifier: Apache-2.0
// A thread an element, the sigmoid's exponential as exp2 of |gate| log2(e): the constant and the product, two roundings.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, base_two) {

template <class T>
struct BaseTwo : Plain<T> {
  __device__ static float value(float gate, float up, std::int64_t, std::int64_t) {
    const float t = exp2f(-fabsf(gate) * 1.4426950408889634f);
    return (gate < 0.0f ? gate * t : gate) / (1.0f + t) * up;
  }
};
KERNEL_DECLARING(silu_mul, plain, BaseTwo, (Numerics{.accumulate = f32, .exponent_error = 2}));

}  // namespace assay::ROOM(silu_mul, base_two)
