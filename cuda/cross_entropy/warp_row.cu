// SPDX-License-Identifier: Apache-2.0
// One warp per token, eight per block, for small vocabularies and many tokens: online as in block_row, lanes joined by shuffles
// without a barrier.  Then one block for the mean.
#include "cuda/cross_entropy/row.cuh"

namespace assay::ROOM(cross_entropy, warp_row) {

using namespace cross_entropy_room;

inline constexpr int kTokens = 8;  // warps per block

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kTokens), tile_bytes(Axis::vocab, 16 * kWarp)},
    // A lane adds at most a pack of 8 more than its share, and one of the tail; 5 joins.  The mean's sum is shorter.
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kWarp, .extra = 14},
                 .flushes_subnormals = true,
                 .rescales = {.lanes = kWarp, .extra = 14}},
};

template <class T, int N>
__global__ void __launch_bounds__(kTokens* kWarp) cross_entropy_warp_row(Tokens<T> m) {
  next_grid_may_start();
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kTokens + warp_id();
  if (token >= m.tokens) return;
  fold::LogSumExp seen;
  fold::take_packs<4, N>(seen, m.row(token), lane_id(), m.vocab / N, kWarp);
  fold::take_tail<N>(seen, m.row(token), m.vocab, lane_id());
  seen = fold::join_warp(seen);
  if (lane_id() == 0) m.store_loss(token, seen);
}

template <class T, int N>
void run_width(const cross_entropy::Args& a, const Launch& l) {
  launch(cross_entropy_warp_row<T, N>, {.grid = dim3(ceil_div(a.x.shape[0], kTokens)), .block = dim3(kTokens * kWarp)}, l.stream,
         tokens_of<T>(a));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype,
            [&]<class T>(Type<T>) { a.x.rows_aligned(16) ? run_width<T, 16 / sizeof(T)>(a, l) : run_width<T, 1>(a, l); });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, warp_row)
