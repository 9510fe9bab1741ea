// SPDX-License-Identifier: Apache-2.0
// A query and 64 channels a thread; a key's weight is rounded to the dtype before it multiplies the value, and summed before
// that.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, narrow_weights) {

template <class T>
struct Narrow : Turned<T> {
  static constexpr bool kNarrowProbabilities = true;
  static __device__ float added(float o, float weight, float v) { return fmaf(to_float(from_float<T>(weight)), v, o); }
};
KERNEL_FROM(attention_forward, plain, Narrow);

}  // namespace assay::ROOM(attention_forward, narrow_weights)
