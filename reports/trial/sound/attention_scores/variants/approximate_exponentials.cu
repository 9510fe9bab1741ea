// SPDX-License-Identifier: Apache-2.0
// A query a warp, its exponentials by exp2_approx, whose subnormal results are zero, as declared.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, approximate_exponentials) {

template <class T>
struct Approximate : Plain<T> {
  static __device__ float exponential(float v) { return exp2_approx(v * 1.4426950408889634f); }
};
KERNEL_DECLARING(attention_scores, plain, Approximate,
                 (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .flushes_subnormals = true}));

}  // namespace assay::ROOM(attention_scores, approximate_exponentials)
