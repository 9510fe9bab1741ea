// SPDX-License-Identifier: Apache-2.0
// A row a block, the LayerNorm's result rounded to the dtype before the residual is added, as where it is a tensor of its own.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, stored_norm) {

template <class T>
struct Stored : Plain<T> {
  __device__ static float layernorm(const Rows<T>& m, std::int64_t c, float mean, float r) {
    return to_float(from_float<T>(Plain<T>::layernorm(m, c, mean, r)));
  }
};
KERNEL_DECLARING(layernorm_residual, plain, Stored,
                 (Numerics{.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}, .stores_intermediate = true}));

}  // namespace assay::ROOM(layernorm_residual, stored_norm)
