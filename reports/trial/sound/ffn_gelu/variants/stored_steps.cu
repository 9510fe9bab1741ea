// SPDX-License-Identifier: Apache-2.0
// Two launches with h in f32 between them, but z and h are rounded to the dtype, as where each step writes a tensor.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, stored_steps) {

template <class T>
struct Stored : Plain<T> {
  __device__ static float stored(float v) { return to_float(from_float<T>(v)); }
  __device__ float unit(float sum, float bias) const { return stored(this->activated(stored(sum + bias))); }
};
KERNEL_DECLARING(ffn_gelu, plain, Stored, (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .stores_intermediate = true}));

}  // namespace assay::ROOM(ffn_gelu, stored_steps)
