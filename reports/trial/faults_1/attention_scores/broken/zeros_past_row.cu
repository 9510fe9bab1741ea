// SPDX-License-Identifier: Apache-2.0
// FAULT: a row of P is finished with zeros up to a multiple of four keys, which lie between rows or at the beginning of the
// next one.
// Kind: concurrency
// Shows: seq_k that is no multiple of four: packed rows overwrite each other's first keys, padded ones their gap.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, zeros_past_row) {

template <class T>
struct Padded : Plain<T> {
  static __device__ std::int64_t written(const Problem<T>& m, std::int64_t /*seen*/) { return (m.seq_k + 3) / 4 * 4; }
};

KERNEL_FROM(attention_scores, plain, Padded);

}  // namespace assay::ROOM(attention_scores, zeros_past_row)
