// SPDX-License-Identifier: Apache-2.0
// FAULT: L is the logarithm of the sum of weights, to which the maximum was not added; O is right.
// Caught by: the bound on L, on any fill whose largest score is not about zero.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, lse_without_max) {

KERNEL(attention_forward) = plain_traits({f16, bf16, f32});

template <class T>
struct Wrong : Steps<T> {
  static __device__ float lse(float, float sum) { return sum == 0 ? -INFINITY : logf(sum); }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, lse_without_max)
