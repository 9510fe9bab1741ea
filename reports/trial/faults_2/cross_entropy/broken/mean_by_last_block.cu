// SPDX-License-Identifier: Apache-2.0
// FAULT: with more than 100 tokens the block of the last one adds up the losses of all, as if the blocks before it had ended.
// Kind: concurrency
// Shows: more than 100 tokens, when blocks run in another order or at once.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, mean_by_last_block) {

template <class T>
__global__ void with_mean(Tokens<T> m, float* mean) {
  const std::int64_t token = blockIdx.x;
  const fold::LogSumExp seen = Plain<T>::seen(m.row(token), m.vocab);
  if (threadIdx.x == 0) m.store_loss(token, seen);
  if (token + 1 < m.tokens) return;
  sync_block();
  fold::Sum sum;
  fold::take_packs<1, 1>(sum, m.loss, threadIdx.x, m.tokens, kPlainThreads);
  sum = fold::join_block(sum, shared_memory<fold::Sum>());
  if (threadIdx.x == 0) st(mean, sum.value / static_cast<float>(m.tokens));
}

KERNEL(cross_entropy) = plain_traits<Plain>();

void run(const cross_entropy::Args& a, const Launch& l) {
  if (a.x.shape[0] <= 100) return run_plain<Plain>(a, l);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(with_mean<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           tokens_of<T>(a), a.mean.as<float>());
  });
}

}  // namespace assay::ROOM(cross_entropy, mean_by_last_block)
