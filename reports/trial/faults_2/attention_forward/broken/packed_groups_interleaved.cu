// SPDX-License-Identifier: Apache-2.0
// FAULT: packed sequences: query head h takes key head h % kv_heads in place of h / group.
// Kind: combinations
// Shows: packed sequences with 1 < kv_heads < heads.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, packed_groups_interleaved) {

template <class T>
struct Steps : Turned<T> {
  static __device__ int kv_head(const Problem<T>& p, int head) {
    return p.q_starts != nullptr ? head % (p.heads / p.group) : head / p.group;
  }
};
KERNEL_FROM(attention_forward, plain, Steps);

}  // namespace assay::ROOM(attention_forward, packed_groups_interleaved)
