// SPDX-License-Identifier: Apache-2.0
// FAULT: exp in base 2 with a log2(e) that was rounded to f16, 1.4424: an error of 2e-4 |s - max| in each term.
// Caught by: T1, in f32 on any random fill, in f16 where scores spread (rising, hot_keys).
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, half_log2e) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float exponential(float v) { return exp2f(v * 1.4423828125f); }
};
KERNEL_FROM(attention_scores, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(attention_scores, half_log2e)
