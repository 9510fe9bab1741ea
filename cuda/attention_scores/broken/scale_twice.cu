// SPDX-License-Identifier: Apache-2.0
// FAULT: the scale is folded into Q and applied to the scores again. Right for one channel, where the usual scale is 1.
// Caught by: the bound on any random case with more channels.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, scale_twice) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float query_value(const Problem<T>& m, T q) { return to_float(q) * m.scale; }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, scale_twice)
