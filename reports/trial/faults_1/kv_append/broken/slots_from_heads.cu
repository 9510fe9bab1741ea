// SPDX-License-Identifier: Apache-2.0
// FAULT: the distance of two slots of a page is derived from the heads, kv_heads x stride of a head, instead of taken.
// Kind: layout
// Shows: a pool whose slots are padded, or laid out head after head within a page.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, slots_from_heads) {

KERNEL(kv_append) = plain_traits<Plain>();

void run(const kv_append::Args& a, const Launch& l) {
  kv_append::Args b = a;
  b.k_pool.stride[1] = b.v_pool.stride[1] = a.k_pool.shape[2] * a.k_pool.stride[2];
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(kv_append, slots_from_heads)
