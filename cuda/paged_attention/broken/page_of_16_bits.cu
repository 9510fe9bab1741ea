// SPDX-License-Identifier: Apache-2.0
// FAULT: a page id is kept in 16 bits.
// Caught by: probe_one_key and pages_backwards, with pools of more than 65,536 pages.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, page_of_16_bits) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t page(const Paged<T>& p, const std::int32_t* table, int key) {
    return static_cast<std::uint16_t>(ld(table + key / p.page_size));
  }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, page_of_16_bits)
