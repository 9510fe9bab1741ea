// SPDX-License-Identifier: Apache-2.0
// FAULT: computes the place of a token's target in 32 bits, while the row itself is addressed in 64. Visible from 2^31
// elements on (layout far, or 16,384 tokens of 131,072 classes): a wrong element, or an address outside.
// KIND: offsets
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/cross_entropy.hpp"

namespace assay::ROOM(cross_entropy, target_offset_32_bits) {

template <class T>
struct Tokens {
  const T* x;  // [tokens, vocab], rows `stride` elements apart
  const std::int32_t* target;
  float* loss;
  std::int64_t tokens, vocab, stride;
  __device__ const T* row(std::int64_t token) const { return x + token * stride; }
  // Note: takes the difference first; log s added to a large maximum would lose its digits.
  __device__ void store_loss(std::int64_t token, const fold::LogSumExp& seen) const {
    const int at = static_cast<int>(token * stride) + ld(target + token);
    st(loss + token, logf(seen.sum) + (seen.max - to_float(ld(x + at))));
  }
};

template <class T>
Tokens<T> tokens_of(const cross_entropy::Args& a) {
  return {a.x.as<T>(), a.target.as<std::int32_t>(), a.loss.as<float>(), a.x.shape[0], a.x.shape[1], a.x.stride[0]};
}

inline constexpr int kMeanThreads = 512;

// Per thread ceil(tokens / kMeanThreads) additions, then 10 joins, always in the same order.
__global__ inline void __launch_bounds__(kMeanThreads) mean_of_losses(const float* loss, float* mean, std::int64_t tokens) {
  fold::Sum sum;
  fold::take_packs<4, 1>(sum, loss, threadIdx.x, tokens, kMeanThreads);
  sum = fold::join_block(sum, shared_memory<fold::Sum>());
  if (threadIdx.x == 0) st(mean, sum.value / static_cast<float>(tokens));
}

inline void launch_mean(const cross_entropy::Args& a, const Launch& l) {
  launch(mean_of_losses, {.grid = dim3(1), .block = dim3(kMeanThreads), .shared_bytes = kWarp * sizeof(fold::Sum)}, l.stream,
         a.loss.as<float>(), a.mean.as<float>(), a.x.shape[0]);
}

using namespace cross_entropy_room;

inline constexpr int kThreads = 512;  // at most; fewer if a row has fewer packs

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kMeanThreads), tile_bytes(Axis::vocab, 16 * kThreads)},
    // A thread adds at most a pack of 8 more than its 512th share, and one element of the tail; 10 additions join the block.
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 19}, .rescales = {.lanes = kThreads, .extra = 19}},
};

template <class T, int N>
__global__ void __launch_bounds__(kThreads) cross_entropy_block_row(Tokens<T> m) {
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
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    a.x.rows_aligned(16) ? run_width<T, 16 / sizeof(T)>(a, l) : run_width<T, 1>(a, l);
  });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, target_offset_32_bits)
