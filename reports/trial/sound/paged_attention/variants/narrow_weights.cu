// SPDX-License-Identifier: Apache-2.0
// A query and 32 channels a thread; a key's weight is rounded to the dtype before it multiplies the value, and summed before
// that.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, narrow_weights) {

template <class T>
struct Narrow : Plain<T> {
  static __device__ float added(float o, float weight, float v) { return fmaf(to_float(from_float<T>(weight)), v, o); }
};
KERNEL_DECLARING(paged_attention, plain, Narrow,
                 (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .narrow_probabilities = true, .rescales = {.lanes = 1}}));

}  // namespace assay::ROOM(paged_attention, narrow_weights)
