// SPDX-License-Identifier: Apache-2.0
// FAULT: 1 / sum is rounded to the storage dtype, and the declaration does not say so.
// Caught by: T1, at about one row in four of any random fill.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, reciprocal_rounded) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float probability(float term, float sum) { return term * to_float(from_float<T>(1.0f / sum)); }
};
KERNEL_FROM(attention_scores, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(attention_scores, reciprocal_rounded)
