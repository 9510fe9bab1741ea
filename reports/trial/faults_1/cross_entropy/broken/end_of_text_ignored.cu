// SPDX-License-Identifier: Apache-2.0
// FAULT: class 2, the end of a text in many vocabularies, is taken for padding: such tokens have a loss of 0.
// Kind: algorithm
// Shows: a target of 2.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, end_of_text_ignored) {

template <class T>
__global__ void cross_entropy_ignoring(Tokens<T> m) {
  const std::int64_t token = blockIdx.x;
  const fold::LogSumExp seen = Plain<T>::seen(m.row(token), m.vocab);
  if (threadIdx.x != 0) return;
  if (ld(m.target + token) == 2) st(m.loss + token, 0.0f);
  else m.store_loss(token, seen);
}

KERNEL(cross_entropy) = plain_traits<Plain>();

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_ignoring<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           tokens_of<T>(a));
  });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, end_of_text_ignored)
