// SPDX-License-Identifier: Apache-2.0
// FAULT: the logarithm of the sum is added to the maximum before the target is subtracted, so a large maximum takes its digits.
// KIND: precision
// Right on: cross_entropy f16 tokens=64 vocab=1024 fill=normal seed=1
// Wrong on: cross_entropy f32 tokens=64 vocab=64 fill=large_mean_1000 seed=1
#include "cuda/core/kernel.cuh"
#include "ops/cross_entropy.hpp"

namespace assay::ROOM(cross_entropy, log_added_to_maximum_first) {

inline constexpr int kThreads = 128;

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void cross_entropy_log_added_to_maximum_first(const T* x, const std::int32_t* target, float* loss, std::int64_t tokens,
                                                         std::int64_t vocab, std::int64_t stride) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (token >= tokens) return;
  x += token * stride;

  float max = -INFINITY;  // Note: fmaxf ignores a NaN, which still reaches the sum
  for (std::int64_t v = 0; v < vocab; ++v) max = fmaxf(max, to_float(ld(x + v)));

  float sum = 0;
  for (std::int64_t v = 0; v < vocab; ++v) sum += expf(to_float(ld(x + v)) - max);

  st(loss + token, (max + logf(sum)) - to_float(ld(x + ld(target + token))));
}

__global__ void cross_entropy_log_added_to_maximum_first_mean(const float* loss, float* mean, std::int64_t tokens) {
  float sum = 0;
  for (std::int64_t t = 0; t < tokens; ++t) sum += ld(loss + t);
  st(mean, sum / static_cast<float>(tokens));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0];
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_log_added_to_maximum_first<T>, {.grid = dim3(ceil_div(tokens, kThreads)), .block = dim3(kThreads)},
           l.stream, a.x.as<T>(), a.target.as<std::int32_t>(), a.loss.as<float>(), tokens, a.x.shape[1], a.x.stride[0]);
  });
  launch(cross_entropy_log_added_to_maximum_first_mean, {.grid = dim3(1), .block = dim3(1)}, l.stream, a.loss.as<float>(),
         a.mean.as<float>(), tokens);
}

}  // namespace assay::ROOM(cross_entropy, log_added_to_maximum_first)
