// SPDX-License-Identifier: Apache-2.0
// A thread an element, SiLU as z/2 (1 + tanh(z/2)), as declared.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, sigmoid_by_tanh) {

template <class T>
struct ByTanh : Plain<T> {
  __device__ static float value(float gate, float up, std::int64_t, std::int64_t) {
    const float half_gate = 0.5f * gate;
    return half_gate * (1.0f + tanhf(half_gate)) * up;
  }
};
KERNEL_DECLARING(silu_mul, plain, ByTanh, (Numerics{.accumulate = f32, .tanh_sigmoid = true}));

}  // namespace assay::ROOM(silu_mul, sigmoid_by_tanh)
