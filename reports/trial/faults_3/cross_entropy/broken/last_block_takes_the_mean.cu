// SPDX-License-Identifier: Apache-2.0
// FAULT: the block of the last tokens also makes the mean, though blocks of other tokens may not have stored their losses.
// Kind: concurrency
// Shows: more than 32 tokens.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, last_block_takes_the_mean) {

inline constexpr int kTogether = 32;

template <class T>
__global__ void cross_entropy_one_launch(Tokens<T> m, float* mean) {
  auto* const scratch = shared_memory<fold::LogSumExp>();
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTogether;
  for (std::int64_t token = first; token < first + kTogether && token < m.tokens; ++token) {
    fold::LogSumExp f;
    fold::take_packs<1, 1>(f, m.row(token), threadIdx.x, m.vocab, kPlainThreads);
    f = fold::join_block(f, scratch);
    if (threadIdx.x == 0) m.store_loss(token, f);
  }
  if (blockIdx.x != gridDim.x - 1) return;
  sync_block();
  fold::Sum sum;
  fold::take_packs<4, 1>(sum, m.loss, threadIdx.x, m.tokens, kPlainThreads);
  sum = fold::join_block(sum, shared_memory<fold::Sum>());
  if (threadIdx.x == 0) st(mean, sum.value / static_cast<float>(m.tokens));
}

KERNEL(cross_entropy) = plain_traits<Plain>();

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_one_launch<T>,
           {.grid = dim3(ceil_div(a.x.shape[0], kTogether)), .block = dim3(kPlainThreads),
            .shared_bytes = kWarp * sizeof(fold::LogSumExp)},
           l.stream, tokens_of<T>(a), a.mean.as<float>());
  });
}

}  // namespace assay::ROOM(cross_entropy, last_block_takes_the_mean)
