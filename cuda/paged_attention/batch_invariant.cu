// SPDX-License-Identifier: Apache-2.0
// As split_keys, but a split is 512 positions, whatever else is in the batch and however much room the tables have: a sequence's
// answer has the same bits alone and among others.
#include "cuda/paged_attention/split_run.cuh"

namespace assay::ROOM(paged_attention, batch_invariant) {

inline constexpr int kPositions = 512;
static_assert(kPositions % Stream<half, 64, true>::kStep == 0);  // the longest step there is

std::int64_t splits_of(const paged_attention::Args& a) { return ceil_div(room_of_table(a), kPositions); }

std::size_t workspace_bytes(const paged_attention::Args& a) { return parts_bytes(a, splits_of(a)); }

KERNEL(paged_attention){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::max_pages, 4)},  // a step takes 16 to 64 positions, four pages of the smallest usual size
    .numerics = kSplitNumerics,
    .supports = split_supports,
    .workspace_bytes = workspace_bytes,
};

void run(const paged_attention::Args& a, const Launch& l) { run_splits(a, l, splits_of(a), kPositions); }

}  // namespace assay::ROOM(paged_attention, batch_invariant)
