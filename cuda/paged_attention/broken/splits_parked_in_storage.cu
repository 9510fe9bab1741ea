// SPDX-License-Identifier: Apache-2.0
// FAULT: what 256 positions have given is parked in the storage dtype before the next 256: right for shorter sequences.
// Kind: precision
// Caught by: the bound, with batch=2 seq_q=1 pages=7 page_size=128 max_pages=3 heads=2 kv_heads=1 head_dim=40 (bf16).
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, splits_parked_in_storage) {

template <class T>
struct Wrong : Plain<T> {
  template <class Take>
  static __device__ bool attend(int end, Part& part, Take&& take) {
    for (int begin = 0; begin < end; begin += 256) {
      if (begin > 0)
        for (float& o : part.o) o = to_float(from_float<T>(o));
      take(begin, end < begin + 256 ? end : begin + 256, part);
    }
    return true;
  }
};
KERNEL_FROM(paged_attention, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(paged_attention, splits_parked_in_storage)
