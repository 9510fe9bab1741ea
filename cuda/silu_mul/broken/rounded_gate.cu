// SPDX-License-Identifier: Apache-2.0
// FAULT: silu(gate) is rounded to the dtype before it meets up, and no word of it in the declaration. Right in f32.
// Caught by: the bound in f16 and bf16 on any random input: two roundings for one.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, rounded_gate) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(float g, float u, std::int64_t, std::int64_t) { return to_float(from_float<T>(silu(g))) * u; }
};
KERNEL_FROM(silu_mul, plain, Wrong);

}  // namespace assay::ROOM(silu_mul, rounded_gate)
