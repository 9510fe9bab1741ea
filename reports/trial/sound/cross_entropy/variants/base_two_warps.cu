// SPDX-License-Identifier: Apache-2.0
// A token a warp, six a block; the logarithm in base two, an exponent by one FMA, x log2(e) - (max log2(e)), as declared.  From
// |max| = 2048 on the difference is taken first, since the rounding of max log2(e) is an exponent.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/cross_entropy.hpp"

namespace assay::ROOM(cross_entropy, base_two_warps) {

inline constexpr int kTokens = 6;

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kTokens), tile(Axis::vocab, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}, .fused_exponent = true},
};

template <class T>
__global__ void cross_entropy_base_two_warps(const T* x, const std::int32_t* target, float* loss, std::int64_t tokens,
                                             std::int64_t vocab, std::int64_t stride) {
  constexpr float kLog2E = 1.4426950408889634f, kLn2 = 0.6931471805599453f;
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kTokens + warp_id();
  if (token >= tokens) return;
  x += token * stride;
  float max = -INFINITY, sum = 0;
  for (std::int64_t c = lane_id(); c < vocab; c += kWarp) max = fmaxf(max, to_float(ld(x + c)));
  max = warp_max(max);
  const bool fused = fabsf(max) < 2048.0f;
  const float base = max * kLog2E;
  for (std::int64_t c = lane_id(); c < vocab; c += kWarp) {
    const float v = to_float(ld(x + c));
    sum += exp2f(fused ? fmaf(v, kLog2E, -base) : (v - max) * kLog2E);
  }
  sum = warp_sum(sum);
  if (lane_id() == 0) st(loss + token, fmaf(kLn2, log2f(sum), max - to_float(ld(x + ld(target + token)))));
}

// By one warp, its lanes' sums joined in five additions.
__global__ void cross_entropy_base_two_mean(const float* loss, float* mean, std::int64_t tokens) {
  float sum = 0;
  for (std::int64_t t = lane_id(); t < tokens; t += kWarp) sum += ld(loss + t);
  sum = warp_sum(sum);
  if (lane_id() == 0) st(mean, sum / static_cast<float>(tokens));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0];
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_base_two_warps<T>, {.grid = dim3(ceil_div(tokens, kTokens)), .block = dim3(kTokens * kWarp)}, l.stream,
           a.x.as<T>(), a.target.as<std::int32_t>(), a.loss.as<float>(), tokens, a.x.shape[1], a.x.stride[0]);
  });
  launch(cross_entropy_base_two_mean, {.grid = dim3(1), .block = dim3(kWarp)}, l.stream, a.loss.as<float>(), a.mean.as<float>(),
         tokens);
}

}  // namespace assay::ROOM(cross_entropy, base_two_warps)
