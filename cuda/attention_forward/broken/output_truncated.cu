// SPDX-License-Identifier: Apache-2.0
// FAULT: O is cut to the storage dtype instead of rounded, half an ulp short on average.
// Caught by: the aggregates alone (errors towards zero), on any random fill: the bound leaves P's own roundings more room.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, output_truncated) {

// The neighbour towards zero lies 1 to 2 unit roundoffs below: a step of 1.02 of them is more than half way and less than one
// and a half.
template <class T>
__device__ inline T towards_zero(float v) {
  constexpr float kStep = 1.02f * (std::is_same_v<T, half> ? 0x1p-11f : 0x1p-8f);
  const T nearest = from_float<T>(v);
  return fabsf(to_float(nearest)) > fabsf(v) ? from_float<T>(to_float(nearest) * (1 - kStep)) : nearest;
}

template <class T>
struct Wrong : Plain<T> {
  static constexpr bool kNarrowProbabilities = true;
  static __device__ float added(float o, float weight, float v) { return fmaf(to_float(from_float<T>(weight)), v, o); }
  static __device__ T stored(float v) { return towards_zero<T>(v); }
};
KERNEL_FROM(attention_forward, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(attention_forward, output_truncated)
