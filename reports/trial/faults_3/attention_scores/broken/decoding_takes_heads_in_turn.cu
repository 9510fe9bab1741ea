// SPDX-License-Identifier: Apache-2.0
// FAULT: with a single query, query head h reads key head h modulo the number of key heads.
// Kind: combinations
// Shows: seq_q=1 with several key heads, each shared by several query heads.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, decoding_takes_heads_in_turn) {

template <class T>
struct InTurn : Plain<T> {
  static __device__ const T* channels(const Problem<T>& m, const Query& at, std::int64_t key) {
    return m.k.at(at.batch, key, m.seq_q == 1 ? at.head % (m.heads / m.group) : at.head / m.group);
  }
};
KERNEL_FROM(attention_scores, plain, InTurn);

}  // namespace assay::ROOM(attention_scores, decoding_takes_heads_in_turn)
