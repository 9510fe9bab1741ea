// SPDX-License-Identifier: Apache-2.0
// FAULT: query head h reads key head h % kv_heads: grouped heads taken for interleaved ones. Right with one key head, and
// with one for each query head.
// Caught by: probe_digits, exactly, and the bound, with several key heads and groups larger than one.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, heads_interleaved) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ const T* channels(const Problem<T>& m, const Query& at, std::int64_t key) {
    return m.k.at(at.batch, key, at.head % (m.heads / m.group));
  }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, heads_interleaved)
