// SPDX-License-Identifier: Apache-2.0
// FAULT (offsets): a target is cut to 16 bits, so classes from 65,536 on are others.
// Right on: cross_entropy f16 tokens=32 vocab=256 fill=normal seed=2
#include "cuda/core/kernel.cuh"
#include "ops/cross_entropy.hpp"

namespace assay::ROOM(cross_entropy, target_in_16_bits) {

inline constexpr int kThreads = 128;

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void cross_entropy_target_in_16_bits(const T* x, const std::int32_t* target, float* loss, std::int64_t tokens,
                                                std::int64_t vocab, std::int64_t stride) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (token >= tokens) return;
  x += token * stride;

  float max = -INFINITY;  // Note: fmaxf ignores a NaN, which still reaches the sum
  for (std::int64_t v = 0; v < vocab; ++v) max = fmaxf(max, to_float(ld(x + v)));

  float sum = 0;
  for (std::int64_t v = 0; v < vocab; ++v) sum += expf(to_float(ld(x + v)) - max);

  st(loss + token, logf(sum) + (max - to_float(ld(x + static_cast<std::uint16_t>(ld(target + token))))));
}

__global__ void cross_entropy_target_in_16_bits_mean(const float* loss, float* mean, std::int64_t tokens) {
  float sum = 0;
  for (std::int64_t t = 0; t < tokens; ++t) sum += ld(loss + t);
  st(mean, sum / static_cast<float>(tokens));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0];
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_target_in_16_bits<T>, {.grid = dim3(ceil_div(tokens, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.x.as<T>(), a.target.as<std::int32_t>(), a.loss.as<float>(), tokens, a.x.shape[1], a.x.stride[0]);
  });
  launch(cross_entropy_target_in_16_bits_mean, {.grid = dim3(1), .block = dim3(1)}, l.stream, a.loss.as<float>(),
         a.mean.as<float>(), tokens);
}

}  // namespace assay::ROOM(cross_entropy, target_in_16_bits)
