// SPDX-License-Identifier: Apache-2.0
// FAULT: a row goes in chunks of 1536 columns, and the logit of a target that is the first column of a chunk but the first is
// not found.
// Kind: offsets
// Shows: vocab above 1536 with targets that are multiples of 1536.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, target_at_start_of_chunk) {

inline constexpr std::int64_t kChunk = 1536;

template <class T>
__global__ void cross_entropy_chunks(Tokens<T> m) {
  const std::int64_t token = blockIdx.x, target = ld(m.target + token);
  const T* const x = m.row(token);
  fold::LogSumExp all;
  float of_target = 0;
  for (std::int64_t first = 0; first < m.vocab; first += kChunk) {
    const std::int64_t end = first + kChunk < m.vocab ? first + kChunk : m.vocab;
    fold::take_packs<1, 1>(all, x, first + threadIdx.x, end, kPlainThreads);
    if (target > first && target < end) of_target = to_float(ld(x + target));
  }
  if (target == 0) of_target = to_float(ld(x));
  all = fold::join_block(all, shared_memory<fold::LogSumExp>());
  if (threadIdx.x == 0) st(m.loss + token, logf(all.sum) + (all.max - of_target));
}

KERNEL(cross_entropy) = plain_traits<Plain>();

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_chunks<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           tokens_of<T>(a));
  });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, target_at_start_of_chunk)
