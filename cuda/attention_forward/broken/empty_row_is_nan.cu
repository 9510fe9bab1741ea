// SPDX-License-Identifier: Apache-2.0
// FAULT: a query without a visible key divides zero by zero.
// Caught by: the class of O (NaN where 0 is right), with mask=causal and seq_q > seq_k, or no keys.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, empty_row_is_nan) {

KERNEL(attention_forward) = plain_traits({f16, bf16, f32});

template <class T>
struct Wrong : Steps<T> {
  static __device__ float output(float o, float sum) { return o / sum; }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, empty_row_is_nan)
