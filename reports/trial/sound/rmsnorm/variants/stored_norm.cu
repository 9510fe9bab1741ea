// SPDX-License-Identifier: Apache-2.0
// A row a block, x / root rounded to the dtype before it is multiplied by gamma, as where it is a tensor of its own.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, stored_norm) {

template <class T>
struct Stored : Plain<T> {
  __device__ static float scaled(float x, float r, float gamma) { return to_float(from_float<T>(x * r)) * gamma; }
};
KERNEL_DECLARING(rmsnorm, plain, Stored,
                 (Numerics{.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}, .stores_intermediate = true}));

}  // namespace assay::ROOM(rmsnorm, stored_norm)
