// SPDX-License-Identifier: Apache-2.0
// FAULT: weights below 2^-24 of the largest are set to zero, as they cannot matter beside it.
// Kind: ranges
// Shows: many keys far below the maximum whose V is much larger than the maximum's, or whose V is inf or NaN.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, weights_below_2_24_dropped) {

template <class T>
struct Dropped : Plain<T> {
  static __device__ float exponential(const Problem<T>&, float v) { return v < -16.64f ? 0.0f : expf(v); }
  static __device__ float added(float o, float weight, float v) { return weight == 0 ? o : fmaf(weight, v, o); }
};

KERNEL_FROM(attention_forward, plain, Dropped);

}  // namespace assay::ROOM(attention_forward, weights_below_2_24_dropped)
