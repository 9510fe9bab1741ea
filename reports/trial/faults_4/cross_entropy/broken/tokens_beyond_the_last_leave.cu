// SPDX-License-Identifier: Apache-2.0
// FAULT: takes two tokens a block, four warps each, and lets the threads of a token beyond the last one return before the
// barriers of the block. Right for an even number of tokens. Visible for an odd one: a barrier that half of the block never
// reaches.
// KIND: concurrency
#include "cuda/cross_entropy/row.cuh"

namespace assay::ROOM(cross_entropy, tokens_beyond_the_last_leave) {

using namespace cross_entropy_room;

inline constexpr int kTokens = 2, kWarps = 4;  // tokens a block, warps a token

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kTokens), tile(Axis::vocab, kWarps* kWarp)},
    // A thread adds its share; 5 and 4 joins.
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kWarps * kWarp, .extra = 10},
                 .rescales = {.lanes = kWarps * kWarp, .extra = 10}},
};

template <class T>
__global__ void __launch_bounds__(kTokens* kWarps* kWarp) cross_entropy_pairs(Tokens<T> m) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kTokens + threadIdx.y;
  if (token >= m.tokens) return;
  fold::LogSumExp seen;
  fold::take_packs<4, 1>(seen, m.row(token), threadIdx.x, m.vocab, kWarps * kWarp);
  seen = fold::join_warp(seen);
  fold::LogSumExp* const partial = shared_memory<fold::LogSumExp>();
  if (lane_id() == 0) st(partial + warp_id(), seen);
  sync_block();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < kWarps; ++w) seen.join(ld(partial + warp_id() + w));
  m.store_loss(token, seen);
}

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_pairs<T>,
           {.grid = dim3(ceil_div(a.x.shape[0], kTokens)),
            .block = dim3(kWarps * kWarp, kTokens),
            .shared_bytes = kTokens * kWarps * sizeof(fold::LogSumExp)},
           l.stream, tokens_of<T>(a));
  });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, tokens_beyond_the_last_leave)
