// SPDX-License-Identifier: Apache-2.0
// FAULT: log of the sum of exp(x), the maximum forgotten. Right while every exp and their sum stay within f32.
// Caught by: the class of the result, where exp overflows or underflows: large_mean_100, spread_200, all_far_below_zero.
#include "cuda/core/reduce.cuh"
#include "cuda/cross_entropy/row.cuh"

namespace assay::ROOM(cross_entropy, maximum_not_subtracted) {

using namespace cross_entropy_room;

inline constexpr int kThreads = 128;

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kMeanThreads), tile(Axis::vocab, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}, .rescales = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void maximum_not_subtracted(Tokens<T> m) {
  const std::int64_t token = blockIdx.x;
  const T* const x = m.row(token);
  float sum = 0;
  for (std::int64_t v = threadIdx.x; v < m.vocab; v += kThreads) sum += expf(to_float(ld(x + v)));
  sum = block_sum(sum, shared_memory<float>());
  if (threadIdx.x == 0) st(m.loss + token, logf(sum) - to_float(ld(x + ld(m.target + token))));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(maximum_not_subtracted<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           tokens_of<T>(a));
  });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, maximum_not_subtracted)
