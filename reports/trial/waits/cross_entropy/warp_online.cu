// SPDX-License-Identifier: Apache-2.0
// SOUND: a warp for each token, four values a load where rows are aligned, an online sum; a second launch adds the losses.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/cross_entropy.hpp"

namespace assay::ROOM(cross_entropy, warp_online) {

inline constexpr int kTokens = 4, kThreads = 256;

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kTokens)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 32, .extra = 11}, .rescales = {.lanes = 32, .extra = 3}},
};

template <class T>
__global__ void losses(const T* x, const int* target, float* loss, std::int64_t tokens, std::int64_t vocab, std::int64_t stride,
                       bool vectors) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kTokens + warp_id();
  if (token >= tokens) return;
  const T* row = x + token * stride;
  const int lane = lane_id();
  float max = -INFINITY, sum = 0;
  std::int64_t done = 0;
  if (vectors) {
    for (std::int64_t c = 4 * lane; c + 3 < vocab; c += 4 * kWarp) {
      const auto pack = ld(reinterpret_cast<const Vec<T, 4>*>(row + c));
      float v[4], most = -INFINITY;
      for (int i = 0; i < 4; ++i) v[i] = to_float(pack[i]), most = fmaxf(most, v[i]);
      if (most > max) sum *= expf(max - most), max = most;
      for (int i = 0; i < 4; ++i)
        if (v[i] != -INFINITY) sum += expf(v[i] - max);
    }
    done = vocab / 4 * 4;
  }
  for (std::int64_t c = done + lane; c < vocab; c += kWarp) {
    const float v = to_float(ld(row + c));
    if (v > max) {
      sum *= expf(max - v);
      max = v;
    }
    if (v != -INFINITY) sum += expf(v - max);
  }
  const float all_max = warp_max(max);
  if (max != -INFINITY) sum *= expf(max - all_max);
  sum = warp_sum(sum);
  if (lane == 0) st(loss + token, logf(sum) + (all_max - to_float(ld(row + ld(target + token)))));
}

__global__ void mean_of(const float* loss, float* mean, std::int64_t tokens) {
  float sum = 0;
  for (std::int64_t t = threadIdx.x; t < tokens; t += kThreads) sum += ld(loss + t);
  sum = block_sum(sum, shared_memory<float>());
  if (threadIdx.x == 0) st(mean, sum / static_cast<float>(tokens));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0], vocab = a.x.shape[1];
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(losses<T>, {.grid = dim3(static_cast<unsigned>(ceil_div(tokens, kTokens))), .block = dim3(kTokens * kWarp)}, l.stream,
           a.x.as<T>(), a.target.as<int>(), a.loss.as<float>(), tokens, vocab, a.x.stride[0], a.x.rows_aligned(4 * sizeof(T)));
  });
  launch(mean_of, {.grid = dim3(1), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream, a.loss.as<float>(),
         a.mean.as<float>(), tokens);
}

}  // namespace assay::ROOM(cross_entropy, warp_online)
