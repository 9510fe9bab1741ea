// SPDX-License-Identifier: Apache-2.0
// FAULT: whether rows are aligned is a static of the launcher, which is set at the first call and holds for all.
// Kind: earlier_calls
// Caught by: misaligned, with layout=offset2 (f16).
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, alignment_decided_once) {

KERNEL(embedding) = plain_traits<Plain>();

void run(const embedding::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  static const bool aligned = a.table.rows_aligned(16) && a.y.rows_aligned(16);
  run_packs(a, l, aligned);
}

}  // namespace assay::ROOM(embedding, alignment_decided_once)
