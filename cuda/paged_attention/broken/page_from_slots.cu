// SPDX-License-Identifier: Apache-2.0
// FAULT: one page is taken to follow the other without a gap: page_size times the stride of a slot apart.
// Kind: layout
// Caught by: out_of_bounds, with layout=mixed (bf16).
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, page_from_slots) {

KERNEL(paged_attention) = plain_traits<Plain>();

void run(const paged_attention::Args& a, const Launch& l) {
  paged_attention::Args b = a;
  for (Tensor* t : {&b.k_pool, &b.v_pool}) t->stride[0] = t->shape[1] * t->stride[1];
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(paged_attention, page_from_slots)
