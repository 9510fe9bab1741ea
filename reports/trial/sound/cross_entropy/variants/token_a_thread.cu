// SPDX-License-Identifier: Apache-2.0
// A token a thread, class after class in one chain, the sum rescaled whenever the maximum grows; one thread then adds up the
// losses.
#include "cuda/core/kernel.cuh"
#include "ops/cross_entropy.hpp"

namespace assay::ROOM(cross_entropy, token_a_thread) {

inline constexpr int kThreads = 32;

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = 1}},
};

template <class T>
__global__ void cross_entropy_token_a_thread(const T* x, const std::int32_t* target, float* loss, std::int64_t tokens,
                                             std::int64_t vocab, std::int64_t stride) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (token >= tokens) return;
  x += token * stride;
  // Note: the first class is the first maximum; if it is -inf or NaN, the sum is NaN until a finite class starts it anew.
  float max = to_float(ld(x)), sum = expf(max - max);
  bool nan = max != max;
  for (std::int64_t c = 1; c < vocab; ++c) {
    const float v = to_float(ld(x + c));
    nan = nan || v != v;
    if (v > max) {
      sum = max == -INFINITY ? expf(v - v) : fmaf(sum, expf(max - v), expf(v - v));
      max = v;
    } else if (max > -INFINITY) {
      sum += expf(v - max);
    }
  }
  const float of_target = to_float(ld(x + ld(target + token)));
  st(loss + token, nan ? NAN : logf(sum) + (max - of_target));
}

__global__ void cross_entropy_mean_by_a_thread(const float* loss, float* mean, std::int64_t tokens) {
  float sum = 0;
  for (std::int64_t t = 0; t < tokens; ++t) sum += ld(loss + t);
  st(mean, sum / static_cast<float>(tokens));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0];
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_token_a_thread<T>, {.grid = dim3(ceil_div(tokens, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.x.as<T>(), a.target.as<std::int32_t>(), a.loss.as<float>(), tokens, a.x.shape[1], a.x.stride[0]);
  });
  launch(cross_entropy_mean_by_a_thread, {.grid = dim3(1), .block = dim3(1)}, l.stream, a.loss.as<float>(), a.mean.as<float>(),
         tokens);
}

}  // namespace assay::ROOM(cross_entropy, token_a_thread)
