// SPDX-License-Identifier: Apache-2.0
// FAULT: packs of 16 bytes are taken where the rows of the table are aligned; nobody asks whether those of y are.
// Kind: layout
// Caught by: misaligned, with layout=mixed (f16), in edges alone.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, alignment_of_table_alone) {

KERNEL(embedding) = plain_traits<Plain>();

void run(const embedding::Args& a, const Launch& l) { run_packs(a, l, a.table.rows_aligned(16)); }

}  // namespace assay::ROOM(embedding, alignment_of_table_alone)
