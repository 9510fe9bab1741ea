// SPDX-License-Identifier: Apache-2.0
// FAULT: logits more than 20 below the row's maximum are not added to the sum.
// Kind: cheats
// Shows: large rows of which most elements are 20 or a little more below the maximum.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, sum_skips_small_terms) {

template <class T>
__global__ void cross_entropy_skipping(Tokens<T> m) {
  const std::int64_t token = blockIdx.x;
  const T* const x = m.row(token);
  fold::Max max;
  fold::take_packs<1, 1>(max, x, threadIdx.x, m.vocab, kPlainThreads);
  for (int offset = kWarp / 2; offset > 0; offset /= 2) max.value = fold::larger(max.value, shuffle_xor(max.value, offset));
  float* const partial = shared_memory<float>();
  if (lane_id() == 0) st(partial + warp_id(), max.value);
  sync_block();
  float largest = ld(partial);
  for (int w = 1; w < kPlainThreads / kWarp; ++w) largest = fold::larger(largest, ld(partial + w));
  sync_block();
  float sum = 0;
  for (std::int64_t v = threadIdx.x; v < m.vocab; v += kPlainThreads) {
    const float d = to_float(ld(x + v)) - largest;
    if (!(d < -20.0f)) sum += expf(d);
  }
  sum = block_sum(sum, partial);
  if (threadIdx.x == 0) st(m.loss + token, logf(sum) + (largest - to_float(ld(x + ld(m.target + token)))));
}

KERNEL(cross_entropy) = plain_traits<Plain>();

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_skipping<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream,
           tokens_of<T>(a));
  });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, sum_skips_small_terms)
