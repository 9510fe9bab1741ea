// SPDX-License-Identifier: Apache-2.0
// The queries that share a key/value head together, so that it is read once for them, and the positions of every sequence in as
// many splits as it takes to fill the device (flash decoding: Dao et al. 2023).  How many depends on the batch, so the bits of a
// sequence's answer depend on what else is in it.
#include "cuda/paged_attention/split_run.cuh"

namespace assay::ROOM(paged_attention, split_keys) {

// Blocks that keep a large device busy, and positions below which another split costs more than it gains.
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
    .tiles = {tile(Axis::max_pages, 4)},  // a step takes 16 to 64 positions, four pages of the smallest usual size
    .numerics = kSplitNumerics,
    .supports = split_supports,
    .workspace_bytes = workspace_bytes,
};

void run(const paged_attention::Args& a, const Launch& l) { run_splits(a, l, splits_of(a), 0); }

}  // namespace assay::ROOM(paged_attention, split_keys)
