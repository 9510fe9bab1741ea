// SPDX-License-Identifier: Apache-2.0
// Like split_keys, but with splits of 512 positions, independent of the batch and of the size of the tables: the result of a
// sequence has the same bits alone and in any batch.
#include "cuda/paged_attention/split_run.cuh"

namespace assay::ROOM(paged_attention, batch_invariant) {

inline constexpr int kPositions = 512;
static_assert(kPositions % Stream<half, 64, true>::kStep == 0);  // the longest step

std::int64_t splits_of(const paged_attention::Args& a) { return ceil_div(room_of_table(a), kPositions); }

std::size_t workspace_bytes(const paged_attention::Args& a) { return parts_bytes(a, splits_of(a)); }

KERNEL(paged_attention){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::max_pages, 4)},  // a step takes 16 to 64 positions: four pages of 16 slots
    .numerics = kSplitNumerics,
    .supports = split_supports,
    .workspace_bytes = workspace_bytes,
};

void run(const paged_attention::Args& a, const Launch& l) { run_splits(a, l, splits_of(a), kPositions); }

}  // namespace assay::ROOM(paged_attention, batch_invariant)
