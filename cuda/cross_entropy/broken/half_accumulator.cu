// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum of exp is kept in the storage dtype. Right in f32, and for few entries.
// Caught by: the bound in f16 and bf16 on any random input of a few hundred entries.
#include "cuda/core/reduce.cuh"
#include "cuda/cross_entropy/row.cuh"

namespace assay::ROOM(cross_entropy, half_accumulator) {

using namespace cross_entropy_room;

inline constexpr int kThreads = 128;

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kMeanThreads), tile(Axis::vocab, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}, .rescales = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void half_accumulator(Tokens<T> m) {
  const std::int64_t token = blockIdx.x;
  const T* const x = m.row(token);
  float max = -INFINITY;
  for (std::int64_t v = threadIdx.x; v < m.vocab; v += kThreads) max = fmaxf(max, to_float(ld(x + v)));
  max = block_max(max, shared_memory<float>());
  T partial = from_float<T>(0);
  for (std::int64_t v = threadIdx.x; v < m.vocab; v += kThreads)
    partial = from_float<T>(to_float(partial) + expf(to_float(ld(x + v)) - max));
  const float sum = to_float(from_float<T>(block_sum(to_float(partial), shared_memory<float>())));
  if (threadIdx.x == 0) st(m.loss + token, logf(sum) + (max - to_float(ld(x + ld(m.target + token)))));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(half_accumulator<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           tokens_of<T>(a));
  });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, half_accumulator)
