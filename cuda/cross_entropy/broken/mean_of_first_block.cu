// SPDX-License-Identifier: Apache-2.0
// FAULT: the mean's sum takes one loss a thread, 512 of them, and divides by all. Right for up to 512 tokens.
// Caught by: the bound of the mean with more tokens.
#include "cuda/core/reduce.cuh"
#include "cuda/cross_entropy/row.cuh"

namespace assay::ROOM(cross_entropy, mean_of_first_block) {

using namespace cross_entropy_room;

inline constexpr int kThreads = 128;

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kMeanThreads), tile(Axis::vocab, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}, .rescales = {.lanes = kThreads, .extra = 10}},
};

__global__ void mean_of_first(const float* loss, float* mean, std::int64_t tokens) {
  const float sum = block_sum(threadIdx.x < tokens ? ld(loss + threadIdx.x) : 0.0f, shared_memory<float>());
  if (threadIdx.x == 0) st(mean, sum / static_cast<float>(tokens));
}

template <class T>
__global__ void mean_of_first_block(Tokens<T> m) {
  const std::int64_t token = blockIdx.x;
  const T* const x = m.row(token);
  fold::LogSumExp seen;
  fold::take_packs<1, 1>(seen, x, threadIdx.x, m.vocab, kThreads);
  seen = fold::join_block(seen, shared_memory<fold::LogSumExp>());
  if (threadIdx.x == 0) m.store_loss(token, seen);
}

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(mean_of_first_block<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           tokens_of<T>(a));
  });
  launch(mean_of_first, {.grid = dim3(1), .block = dim3(kMeanThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream,
         a.loss.as<float>(), a.mean.as<float>(), a.x.shape[0]);
}

}  // namespace assay::ROOM(cross_entropy, mean_of_first_block)
