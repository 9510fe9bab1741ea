// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum of the losses for their mean. Right for one token.
// Caught by: the bound of the mean with several tokens.
#include "cuda/core/reduce.cuh"
#include "cuda/cross_entropy/row.cuh"

namespace assay::ROOM(cross_entropy, mean_of_sums) {

using namespace cross_entropy_room;

inline constexpr int kThreads = 128;

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kMeanThreads), tile(Axis::vocab, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}, .rescales = {.lanes = kThreads, .extra = 10}},
};

__global__ void sum_of_losses(const float* loss, float* mean, std::int64_t tokens) {
  float sum = 0;
  for (std::int64_t t = 0; t < tokens; ++t) sum += ld(loss + t);
  st(mean, sum);
}

template <class T>
__global__ void mean_of_sums(Tokens<T> m) {
  const std::int64_t token = blockIdx.x;
  const T* const x = m.row(token);
  fold::LogSumExp seen;
  fold::take_packs<1, 1>(seen, x, threadIdx.x, m.vocab, kThreads);
  seen = fold::join_block(seen, shared_memory<fold::LogSumExp>());
  if (threadIdx.x == 0) m.store_loss(token, seen);
}

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(mean_of_sums<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           tokens_of<T>(a));
  });
  launch(sum_of_losses, {.grid = dim3(1), .block = dim3(1)}, l.stream, a.loss.as<float>(), a.mean.as<float>(), a.x.shape[0]);
}

}  // namespace assay::ROOM(cross_entropy, mean_of_sums)
