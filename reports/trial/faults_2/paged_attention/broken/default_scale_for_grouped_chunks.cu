// SPDX-License-Identifier: Apache-2.0
// FAULT: several queries of heads that share a key are scaled by 1 / sqrt(head_dim), whatever scale is asked for.
// Kind: combinations
// Shows: a scale, seq_q > 1 and heads > kv_heads together.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, default_scale_for_grouped_chunks) {

template <class T>
struct Steps : Plain<T> {
  static __device__ float score(const Paged<T>& p, float dot, int, int) {
    return dot * (p.queries > 1 && p.group > 1 ? 1.0f / sqrtf(static_cast<float>(p.dim)) : p.scale);
  }
};
KERNEL_FROM(paged_attention, plain, Steps);

}  // namespace assay::ROOM(paged_attention, default_scale_for_grouped_chunks)
