// SPDX-License-Identifier: Apache-2.0
// FAULT: dQ is the sum of dS K, not multiplied by the scale.
// Caught by: the bound, on any fill with head_dim > 1; dK and dV are right.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, scale_left_out) {

KERNEL(attention_backward) = plain_traits({f16, bf16, f32});

template <class T>
struct Wrong : Steps<T> {
  static __device__ float d_query(float sum, float) { return sum; }
};

void run(const attention_backward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_backward, scale_left_out)
