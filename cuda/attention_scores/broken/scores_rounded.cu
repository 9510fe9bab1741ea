// SPDX-License-Identifier: Apache-2.0
// FAULT: scores are rounded to the storage dtype before the softmax, and the declaration does not say so.
// Caught by: T1, where scores are large (large_scores, hot_keys), and on any random fill.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, scores_rounded) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float score(const Problem<T>& m, float dot, std::int64_t, std::int64_t) {
    return to_float(from_float<T>(dot * m.scale));
  }
};
KERNEL_FROM(attention_scores, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(attention_scores, scores_rounded)
