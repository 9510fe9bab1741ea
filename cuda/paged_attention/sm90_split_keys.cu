// SPDX-License-Identifier: Apache-2.0
// Splits of a length that depends on the sequence alone, their pages copied as boxes, the queries that share a key/value head
// multiplied together by mma (hopper_pages.cuh).  One launch, and a second one that joins the splits if a sequence may have
// several.
#include "cuda/paged_attention/hopper_pages_run.cuh"

namespace assay::ROOM(paged_attention, sm90_split_keys) {

KERNEL(paged_attention){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::max_pages, 4)},  // a stage takes 64 positions: four pages of 16 slots
    .numerics = kPagesNumerics,
    .supports = pages_fit,
    .workspace_bytes = bytes_of_splits,
};

void run(const paged_attention::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_half_type(a.q.dtype, [&]<class T>(Type<T>) {
    const bool few = a.q.shape[1] * (a.q.shape[2] / a.k_pool.shape[2]) <= 8;
    if (a.q.shape[3] > 64) few ? launch_pages<PagesShape<128, 8>, T>(a, l) : launch_pages<PagesShape<128, 16>, T>(a, l);
    else few ? launch_pages<PagesShape<64, 8>, T>(a, l) : launch_pages<PagesShape<64, 16>, T>(a, l);
  });
}

}  // namespace assay::ROOM(paged_attention, sm90_split_keys)
