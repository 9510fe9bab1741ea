// SPDX-License-Identifier: Apache-2.0
// FAULT: the scores are rounded to the storage dtype before the softmax, and the declaration does not say so.
// Caught by: the bound on L on any random fill, on O where scores are large; right where they are representable, as zeros are.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, scores_rounded) {

KERNEL(attention_forward) = plain_traits({f16, bf16});

template <class T>
struct Wrong : Steps<T> {
  static __device__ float score(const Problem<T>& p, float dot) {
    return to_float(from_float<T>(Steps<T>::score(p, dot)));
  }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, scores_rounded)
