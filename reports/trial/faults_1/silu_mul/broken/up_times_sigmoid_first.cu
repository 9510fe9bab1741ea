// SPDX-License-Identifier: Apache-2.0
// FAULT: up is multiplied by the sigmoid, and the product by the gate: the first product is subnormal where the result is not.
// Kind: ranges
// Shows: f32 or bf16, a gate of about -80 and an up of about 1e-4.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, up_times_sigmoid_first) {

template <class T>
struct Reordered : Plain<T> {
  __device__ static float value(float gate, float up, std::int64_t /*col*/, std::int64_t /*cols*/) {
    if (!(fabsf(gate) < 88.0f)) return silu(gate) * up;
    const float t = expf(-fabsf(gate));
    return gate * (up * ((gate < 0.0f ? t : 1.0f) / (1.0f + t)));
  }
};

KERNEL_FROM(silu_mul, plain, Reordered);

}  // namespace assay::ROOM(silu_mul, up_times_sigmoid_first)
