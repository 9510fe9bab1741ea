// SPDX-License-Identifier: Apache-2.0
// Queries that share a key/value head are processed together, so K and V are read once for them; the positions of a sequence are
// split over as many blocks as fill the device (flash decoding: Dao et al. 2023).  The number of splits depends on the batch, and
// so do the bits of a sequence's result.
#include "cuda/paged_attention/split_run.cuh"

namespace assay::ROOM(paged_attention, split_keys) {

// Number of blocks that fill a large device, and the fewest positions that are worth a split.
inline constexpr std::int64_t kBlocks = 1056, kLeastPositions = 128;

std::int64_t splits_of(const paged_attention::Args& a) {
  if (nothing_to_do(a)) return 1;
  const std::int64_t blocks = a.q.shape[0] * a.k_pool.shape[2] * split_chunks(a);
  return std::clamp<std::int64_t>(kBlocks / blocks, 1, ceil_div(room_of_table(a), kLeastPositions));
}

std::size_t workspace_bytes(const paged_attention::Args& a) { return parts_bytes(a, splits_of(a)); }

KERNEL(paged_attention){
    .dtypes = {f16, bf16, f32},
    .position_matters = true,
    .tiles = {tile(Axis::max_pages, 4)},  // a step takes 16 to 64 positions: four pages of 16 slots
    .numerics = kSplitNumerics,
    .supports = split_supports,
    .workspace_bytes = workspace_bytes,
};

void run(const paged_attention::Args& a, const Launch& l) { run_splits(a, l, splits_of(a), 0); }

}  // namespace assay::ROOM(paged_attention, split_keys)
