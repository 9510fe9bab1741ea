// SPDX-License-Identifier: Apache-2.0
// A row a block, gamma and beta folded into the norm, as declared: y = x a + b, a = r gamma, b = beta - mean a.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, folded_affine) {

template <class T>
struct Folded : Plain<T> {
  static __device__ float affine(float x, float mean, float r, float gamma, float beta) {
    const float a = r * gamma;
    return x * a + (beta - mean * a);
  }
};
KERNEL_DECLARING(layernorm, plain, Folded,
                 (Numerics{.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}, .folded_affine = true}));

}  // namespace assay::ROOM(layernorm, folded_affine)
