// SPDX-License-Identifier: Apache-2.0
// A thread an element, silu rounded to the dtype before it is multiplied, as where it is a tensor of its own.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, stored_silu) {

template <class T>
struct Stored : Plain<T> {
  __device__ static float value(float gate, float up, std::int64_t, std::int64_t) {
    return to_float(from_float<T>(silu(gate))) * up;
  }
};
KERNEL_DECLARING(silu_mul, plain, Stored, (Numerics{.accumulate = f32, .stores_intermediate = true}));

}  // namespace assay::ROOM(silu_mul, stored_silu)
