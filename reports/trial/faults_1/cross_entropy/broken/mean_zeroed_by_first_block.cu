// SPDX-License-Identifier: Apache-2.0
// FAULT: the mean is added up by atomics of several blocks, and the first of them sets it to zero, whenever that one runs.
// Kind: concurrency
// Shows: more than 128 tokens: a block that runs before the first one is forgotten.
#include "cuda/cross_entropy/row.cuh"

namespace assay::ROOM(cross_entropy, mean_zeroed_by_first_block) {

inline constexpr int kThreads = 128;

template <class T>
__global__ void cross_entropy_losses(Tokens<T> m) {
  const std::int64_t token = blockIdx.x;
  fold::LogSumExp f;
  fold::take_packs<1, 1>(f, m.row(token), threadIdx.x, m.vocab, kThreads);
  f = fold::join_block(f, shared_memory<fold::LogSumExp>());
  if (threadIdx.x == 0) m.store_loss(token, f);
}

__global__ void cross_entropy_add_losses(const float* loss, float* mean, std::int64_t tokens) {
  if (blockIdx.x == 0 && threadIdx.x == 0) st(mean, 0.0f);
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  fold::Sum sum;
  if (token < tokens) sum.value = ld(loss + token);
  sum = fold::join_block(sum, shared_memory<fold::Sum>());
  if (threadIdx.x == 0) atomic_add(mean, sum.value / static_cast<float>(tokens));
}

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .deterministic = false,
    .tiles = {tile(Axis::tokens, kThreads), tile(Axis::vocab, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 12}, .rescales = {.lanes = kThreads, .extra = 10}},
};

void run(const cross_entropy::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0];
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_losses<T>,
           {.grid = dim3(tokens), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           tokens_of<T>(a));
  });
  launch(cross_entropy_add_losses,
         {.grid = dim3(ceil_div(tokens, kThreads)), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(fold::Sum)}, l.stream,
         a.loss.as<float>(), a.mean.as<float>(), tokens);
}

}  // namespace assay::ROOM(cross_entropy, mean_zeroed_by_first_block)
