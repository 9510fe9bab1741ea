// SPDX-License-Identifier: Apache-2.0
// sm90_split_keys of one shape: room for 128 channels leaves room for two stages, so that the ring wraps within a split.
#include "cuda/paged_attention/hopper_pages_run.cuh"

namespace assay::ROOM(paged_attention, pages) {

KERNEL(paged_attention){
    .dtypes = {f16},
    .only_arch = 90,
    .tiles = {tile(Axis::max_pages, 4)},
    .numerics = kPagesNumerics,
    .supports = pages_fit,
    .workspace_bytes = bytes_of_splits,
};

void run(const paged_attention::Args& a, const Launch& l) {
  if (!nothing_to_do(a)) launch_pages<PagesShape<128, 8>, half>(a, l);
}

}  // namespace assay::ROOM(paged_attention, pages)
