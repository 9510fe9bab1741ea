// SPDX-License-Identifier: Apache-2.0
// FAULT: query head h reads key/value head h % kv_heads instead of h / (heads / kv_heads).
// Caught by: the bound, on any fill with 1 < kv_heads < heads; right with one key/value head and with as many as query heads.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, wrong_kv_head) {

KERNEL(attention_forward) = plain_traits({f16, bf16, f32});

template <class T>
struct Wrong : Steps<T> {
  static __device__ int kv_head(const Problem<T>& p, int head) { return head % (p.heads / p.group); }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, wrong_kv_head)
