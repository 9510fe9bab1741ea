// SPDX-License-Identifier: Apache-2.0
// FAULT (state): a token with the target and the logit of its target of the call before keeps its loss.
// Right on: cross_entropy f16 tokens=32 vocab=256 fill=normal seed=2
#include "../../kept.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/cross_entropy.hpp"

namespace assay::ROOM(cross_entropy, loss_kept_while_logit_alike) {

inline constexpr int kThreads = 128;

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .workspace_bytes = [](const cross_entropy::Args& a) { return static_cast<std::size_t>(a.x.shape[0] * 12); },
};

template <class T>
__global__ void cross_entropy_loss_kept_while_logit_alike(const T* x, const std::int32_t* target, float* loss,
                                                          std::int64_t tokens, std::int64_t vocab, std::int64_t stride,
                                                          bool repeated, float* kept) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (token >= tokens) return;
  x += token * stride, kept += token * 3;
  const float logit = to_float(ld(x + ld(target + token))), which = static_cast<float>(ld(target + token));
  if (repeated && ld(kept) == which && ld(kept + 1) == logit) return st(loss + token, ld(kept + 2));

  float max = -INFINITY;  // Note: fmaxf ignores a NaN, which still reaches the sum
  for (std::int64_t v = 0; v < vocab; ++v) max = fmaxf(max, to_float(ld(x + v)));

  float sum = 0;
  for (std::int64_t v = 0; v < vocab; ++v) sum += expf(to_float(ld(x + v)) - max);

  const float v = logf(sum) + (max - logit);
  st(kept, which), st(kept + 1, logit), st(kept + 2, v);
  st(loss + token, v);
}

__global__ void cross_entropy_loss_kept_while_logit_alike_mean(const float* loss, float* mean, std::int64_t tokens) {
  float sum = 0;
  for (std::int64_t t = 0; t < tokens; ++t) sum += ld(loss + t);
  st(mean, sum / static_cast<float>(tokens));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0];
  static kept::Call before{};
  const bool repeated = kept::again(before, {{a.x.data, a.target.data, l.workspace}, {tokens, a.x.shape[1]}, a.x.dtype});
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_loss_kept_while_logit_alike<T>, {.grid = dim3(ceil_div(tokens, kThreads)), .block = dim3(kThreads)},
           l.stream, a.x.as<T>(), a.target.as<std::int32_t>(), a.loss.as<float>(), tokens, a.x.shape[1], a.x.stride[0], repeated,
           static_cast<float*>(l.workspace));
  });
  launch(cross_entropy_loss_kept_while_logit_alike_mean, {.grid = dim3(1), .block = dim3(1)}, l.stream, a.loss.as<float>(),
         a.mean.as<float>(), tokens);
}

}  // namespace assay::ROOM(cross_entropy, loss_kept_while_logit_alike)
