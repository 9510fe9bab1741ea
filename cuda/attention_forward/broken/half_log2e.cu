// SPDX-License-Identifier: Apache-2.0
// FAULT: exp in base 2 with a log2(e) that was rounded to f16, 1.4424: an error of 2e-4 |s - max| in each weight.
// Caught by: T1, on L in f32 on any random fill, on O where scores spread (sharp_scores).
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, half_log2e) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float exponential(const Problem<T>&, float v) { return exp2f(v * 1.4423828125f); }
};
KERNEL_FROM(attention_forward, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(attention_forward, half_log2e)
