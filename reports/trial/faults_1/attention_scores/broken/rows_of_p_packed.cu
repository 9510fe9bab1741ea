// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows of P within a head are taken for packed, seq_k apart; heads and batches are found by their strides.
// Kind: layout
// Shows: P with padded rows, two queries or more.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, rows_of_p_packed) {

KERNEL(attention_scores) = plain_traits<Plain>();

void run(const attention_scores::Args& a, const Launch& l) {
  attention_scores::Args b = a;
  b.p.stride[2] = a.p.shape[3];
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(attention_scores, rows_of_p_packed)
