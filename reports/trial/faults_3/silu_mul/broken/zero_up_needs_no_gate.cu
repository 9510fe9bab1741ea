// SPDX-License-Identifier: Apache-2.0
// FAULT: where up is zero the gate is not looked at and the result is zero.
// Kind: cheats
// Shows: elements whose up is zero and whose gate is NaN, infinite or negative (the sign of the zero).
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, zero_up_needs_no_gate) {

template <class T>
struct Skipping : Plain<T> {
  __device__ static float value(float gate, float up, std::int64_t, std::int64_t) { return up == 0 ? 0.0f : silu(gate) * up; }
};
KERNEL_FROM(silu_mul, plain, Skipping);

}  // namespace assay::ROOM(silu_mul, zero_up_needs_no_gate)
