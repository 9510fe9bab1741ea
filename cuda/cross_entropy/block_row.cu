// SPDX-License-Identifier: Apache-2.0
// One block per token: each thread reads 16-byte packs of the row, four in flight, and keeps an online maximum and sum, rescaled
// once per pack; x is read once.  Then one block computes the mean.  Falls back to single elements where rows are not 16-byte
// aligned.
#include "cuda/cross_entropy/row.cuh"

namespace assay::ROOM(cross_entropy, block_row) {

using namespace cross_entropy_room;

inline constexpr int kThreads = 512;  // at most; fewer if a row has fewer packs

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kMeanThreads), tile_bytes(Axis::vocab, 16 * kThreads)},
    // A thread adds at most a pack of 8 more than its 512th share, and one element of the tail; 10 additions join the block.
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kThreads, .extra = 19},
                 .flushes_subnormals = true,
                 .rescales = {.lanes = kThreads, .extra = 19}},
};

template <class T, int N>
__global__ void __launch_bounds__(kThreads) cross_entropy_block_row(Tokens<T> m) {
  next_grid_may_start();
  const std::int64_t token = blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x);
  fold::LogSumExp seen;
  fold::take_packs<4, N>(seen, m.row(token), thread, m.vocab / N, static_cast<int>(blockDim.x));
  fold::take_tail<N>(seen, m.row(token), m.vocab, thread);
  seen = fold::join_block(seen, shared_memory<fold::LogSumExp>());
  if (thread == 0) m.store_loss(token, seen);
}

template <class T, int N>
void run_width(const cross_entropy::Args& a, const Launch& l) {
  const std::int64_t warps = std::clamp<std::int64_t>(ceil_div(a.x.shape[1] / N, kWarp), 1, kThreads / kWarp);
  launch(cross_entropy_block_row<T, N>,
         {.grid = dim3(a.x.shape[0]), .block = dim3(kWarp * warps), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
         tokens_of<T>(a));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype,
            [&]<class T>(Type<T>) { a.x.rows_aligned(16) ? run_width<T, 16 / sizeof(T)>(a, l) : run_width<T, 1>(a, l); });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, block_row)
