// SPDX-License-Identifier: Apache-2.0
// FAULT: tiles of 64 keys that a query sees nothing of are not written, since they are taken to be zero already.
// Kind: cheats
// Shows: masked queries, beyond the next multiple of 64 keys.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, hidden_tiles_left_alone) {

template <class T>
struct LeftAlone : Plain<T> {
  static __device__ std::int64_t written(const Problem<T>& m, std::int64_t seen) {
    const std::int64_t end = (seen + 63) / 64 * 64;
    return end < m.seq_k ? end : m.seq_k;
  }
};
KERNEL_FROM(attention_scores, plain, LeftAlone);

}  // namespace assay::ROOM(attention_scores, hidden_tiles_left_alone)
