// SPDX-License-Identifier: Apache-2.0
// FAULT: every sequence reads the first one's page table.
// Caught by: the bound and probe_one_key, on more than one sequence.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, table_of_first_sequence) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ const std::int32_t* table_of(const Paged<T>& p, int) { return p.table_of(0); }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, table_of_first_sequence)
