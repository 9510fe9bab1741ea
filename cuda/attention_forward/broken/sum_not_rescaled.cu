// SPDX-License-Identifier: Apache-2.0
// FAULT: when a larger score comes, the output is scaled down and the sum of weights is not.
// Caught by: T1, wherever the first key's score is not the largest; right with one key, and where scores are equal or fall.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, sum_not_rescaled) {

KERNEL(attention_forward) = plain_traits({f16, f32});

template <class T>
struct Wrong : Steps<T> {
  static __device__ float shrunk_sum(float sum, float) { return sum; }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, sum_not_rescaled)
