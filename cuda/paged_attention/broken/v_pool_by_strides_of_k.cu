// SPDX-License-Identifier: Apache-2.0
// FAULT: the pages of V are found by the strides of the pool of K. Right where both pools lie alike.
// Kind: layout
// Caught by: out_of_bounds, with layout=mixed (f16).
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, v_pool_by_strides_of_k) {

KERNEL(paged_attention) = plain_traits<Plain>();

void run(const paged_attention::Args& a, const Launch& l) {
  paged_attention::Args b = a;
  b.v_pool.stride = a.k_pool.stride;
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(paged_attention, v_pool_by_strides_of_k)
