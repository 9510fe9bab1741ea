// SPDX-License-Identifier: Apache-2.0
// FAULT: lanes without a pack of the row leave before the lanes are joined, and the shuffles still name all 32.
// KIND: concurrency
// Right on: cross_entropy f16 tokens=64 vocab=1024 fill=normal seed=1
// Wrong on: cross_entropy f16 tokens=16 vocab=64 fill=normal seed=1
#include "cuda/cross_entropy/row.cuh"

namespace assay::ROOM(cross_entropy, idle_lanes_leave_early) {

using namespace cross_entropy_room;

inline constexpr int kTokens = 8;  // warps per block

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kTokens), tile_bytes(Axis::vocab, 16 * kWarp)},
    // A lane adds at most a pack of 8 more than its share, and one of the tail; 5 joins.  The mean's sum is shorter.
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 14}, .rescales = {.lanes = kWarp, .extra = 14}},
};

template <class T, int N>
__global__ void __launch_bounds__(kTokens* kWarp) cross_entropy_idle_lanes_leave_early(Tokens<T> m) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kTokens + warp_id();
  if (token >= m.tokens) return;
  if (lane_id() > 0 && lane_id() >= m.vocab / N && lane_id() >= m.vocab % N) return;  // nothing to add
  fold::LogSumExp seen;
  fold::take_packs<4, N>(seen, m.row(token), lane_id(), m.vocab / N, kWarp);
  fold::take_tail<N>(seen, m.row(token), m.vocab, lane_id());
  seen = fold::join_warp(seen);
  if (lane_id() == 0) m.store_loss(token, seen);
}

template <class T, int N>
void run_width(const cross_entropy::Args& a, const Launch& l) {
  launch(cross_entropy_idle_lanes_leave_early<T, N>,
         {.grid = dim3(ceil_div(a.x.shape[0], kTokens)), .block = dim3(kTokens * kWarp)}, l.stream, tokens_of<T>(a));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype,
            [&]<class T>(Type<T>) { a.x.rows_aligned(16) ? run_width<T, 16 / sizeof(T)>(a, l) : run_width<T, 1>(a, l); });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, idle_lanes_leave_early)
