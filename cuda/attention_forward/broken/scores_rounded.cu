// SPDX-License-Identifier: Apache-2.0
// FAULT: the scores are rounded to the storage dtype before the softmax, and the declaration does not say so.
// Caught by: the bound on L on any random fill, on O where scores are large; right where they are representable, as zeros are.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, scores_rounded) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float softcapped(const Problem<T>& p, float s) { return to_float(from_float<T>(Plain<T>::softcapped(p, s))); }
};
KERNEL_FROM(attention_forward, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(attention_forward, scores_rounded)
