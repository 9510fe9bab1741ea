// SPDX-License-Identifier: Apache-2.0
// FAULT: the vocabulary is gone through in pieces of 1024, and the target's logit is picked up on the way, but not where it is
// the first of a piece but the first.
// Kind: offsets
// Shows: a target of 1024, 2048, ...
#include "cuda/cross_entropy/row.cuh"

namespace assay::ROOM(cross_entropy, target_at_beginning_of_piece) {

inline constexpr int kThreads = 128, kPiece = 1024;

template <class T>
__global__ void cross_entropy_pieces(Tokens<T> m) {
  const std::int64_t token = blockIdx.x, target = ld(m.target + token);
  const T* const x = m.row(token);
  fold::LogSumExp f;
  float of_target = target == 0 ? to_float(ld(x)) : 0.0f;
  for (std::int64_t first = 0; first < m.vocab; first += kPiece) {
    const std::int64_t end = first + kPiece < m.vocab ? first + kPiece : m.vocab;
    fold::take_packs<1, 1>(f, x, first + threadIdx.x, end, kThreads);
    if (target > first && target < end) of_target = to_float(ld(x + target));
  }
  f = fold::join_block(f, shared_memory<fold::LogSumExp>());
  if (threadIdx.x == 0) st(m.loss + token, logf(f.sum) + (f.max - of_target));
}

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kMeanThreads), tile(Axis::vocab, kPiece)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}, .rescales = {.lanes = kThreads, .extra = 10}},
};

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_pieces<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           tokens_of<T>(a));
  });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, target_at_beginning_of_piece)
