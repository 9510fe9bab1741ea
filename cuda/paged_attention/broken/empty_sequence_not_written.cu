// SPDX-License-Identifier: Apache-2.0
// FAULT: a query without a visible position returns before its zeros are written.
// Kind: combination
// Caught by: the bound, with batch=2 seq_q=1 pages=7 page_size=1 max_pages=3 heads=2 kv_heads=1 head_dim=40 (f16).
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, empty_sequence_not_written) {

template <class T>
struct Wrong : Plain<T> {
  template <class Take>
  static __device__ bool attend(int end, Part& part, Take&& take) {
    take(0, end, part);
    return end > 0;
  }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, empty_sequence_not_written)
