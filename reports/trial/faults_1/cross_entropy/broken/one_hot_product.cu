// SPDX-License-Identifier: Apache-2.0
// FAULT: the target's logit is the sum of the row's products with a one-hot row, and 0 times -inf is NaN.
// Kind: ranges
// Shows: a -inf at another class than the target: the loss must be finite.
#include "cuda/cross_entropy/row.cuh"

namespace assay::ROOM(cross_entropy, one_hot_product) {

inline constexpr int kThreads = 128;

template <class T>
__global__ void cross_entropy_one_hot(Tokens<T> m) {
  const std::int64_t token = blockIdx.x, target = ld(m.target + token);
  const T* const x = m.row(token);
  fold::LogSumExp f;
  fold::take_packs<1, 1>(f, x, threadIdx.x, m.vocab, kThreads);
  f = fold::join_block(f, shared_memory<fold::LogSumExp>());
  fold::Sum picked;
  for (std::int64_t c = threadIdx.x; c < m.vocab; c += kThreads) {
    const float v[1] = {to_float(ld(x + c)) * (c == target ? 1.0f : 0.0f)};
    picked.add(v);
  }
  picked = fold::join_block(picked, shared_memory<fold::Sum>());
  if (threadIdx.x == 0) st(m.loss + token, logf(f.sum) + (f.max - picked.value));
}

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kMeanThreads), tile(Axis::vocab, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}, .rescales = {.lanes = kThreads, .extra = 10}},
};

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_one_hot<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           tokens_of<T>(a));
  });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, one_hot_product)
