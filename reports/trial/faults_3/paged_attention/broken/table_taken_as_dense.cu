// SPDX-License-Identifier: Apache-2.0
// FAULT: the page table of a sequence is found by the number of pages it has room for, not by its stride.
// Kind: layout
// Shows: a table with padded rows and more than one sequence.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, table_taken_as_dense) {

KERNEL(paged_attention) = plain_traits<Plain>();

void run(const paged_attention::Args& a, const Launch& l) {
  paged_attention::Args dense_table = a;
  dense_table.page_table.stride[0] = a.page_table.shape[1];
  run_plain<Plain>(dense_table, l);
}

}  // namespace assay::ROOM(paged_attention, table_taken_as_dense)
