// SPDX-License-Identifier: Apache-2.0
// FAULT: the scores are scaled as they are made and once more in the exponent.
// Caught by: the bound on any random fill; right where the scores are equal, or there is one key and a scale of 1.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, scale_twice) {

KERNEL(attention_forward) = plain_traits({f16, bf16, f32});

template <class T>
struct Wrong : Steps<T> {
  static __device__ float exponential(const Problem<T>& p, float v) { return expf(v * p.scale); }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, scale_twice)
