// SPDX-License-Identifier: Apache-2.0
// An output a thread, the norm rounded to the dtype before it is multiplied by the weight, as where it is a tensor of its own.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, stored_norm) {

template <class T>
struct Stored : Formula<T> {
  static __device__ float normalised(const Plain<T>& p, std::int64_t h, float d, float r) {
    return to_float(from_float<T>(Formula<T>::normalised(p, h, d, r)));
  }
};
KERNEL_DECLARING(layernorm_linear, plain, Stored,
                 (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .stores_intermediate = true}));

}  // namespace assay::ROOM(layernorm_linear, stored_norm)
