// SPDX-License-Identifier: Apache-2.0
// FAULT: the statistics of a block's four tokens are made by one warp each and read by the others after a barrier of the warp
// only.
// Kind: concurrency
// Shows: out above 32, where a warp reads what other warps wrote.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, statistics_of_four_tokens_in_shared) {

template <class T>
__global__ void layernorm_linear_shared(Plain<T> p) {
  float* const of = shared_memory<float>();
  const std::int64_t tile = blockIdx.x / p.blocks_across * kPlainTokens, warp = warp_id();
  const std::int64_t o = blockIdx.x % p.blocks_across * kPlainTokens * kPlainOut + threadIdx.x;
  if (tile + warp < p.tokens) {
    const float mean = p.mean(tile + warp), r = p.inverse(tile + warp, mean);
    if (lane_id() == 0) st(of + 2 * warp, mean), st(of + 2 * warp + 1, r);
  }
  const bool narrow = p.out <= kPlainOut;  // then a warp takes its own token
  sync_warp();
  for (std::int64_t t = 0; t < kPlainTokens; ++t) {
    const std::int64_t token = tile + t, column = narrow ? lane_id() : o;
    if (token >= p.tokens || column >= p.out || (narrow && t != warp)) continue;
    const float mean = ld(of + 2 * t), r = ld(of + 2 * t + 1);
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h)
      sum = fmaf(fmaf((p.at(token, h) - mean) * r, p.scale(h), p.offset(h)), p.factor(column, h), sum);
    st(p.y + token * p.y_stride + column, from_float<T>(p.bias != nullptr ? sum + to_float(ld(p.bias + column)) : sum));
  }
}

KERNEL(layernorm_linear) = plain_traits<Formula>();

void run(const layernorm_linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], across = ceil_div(out, kPlainTokens * kPlainOut);
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Plain<T> p{a.x.as<T>(),   a.gamma.as<T>(), a.beta.as<T>(),     a.weight.as<T>(), a.bias.as<T>(),
                     a.y.as<T>(),   tokens,          a.x.shape[1],       out,              a.x.stride[0],
                     a.weight.stride[0], a.y.stride[0], across, static_cast<float>(a.epsilon)};
    launch(layernorm_linear_shared<T>,
           {.grid = dim3(ceil_div(tokens, kPlainTokens) * across), .block = dim3(kPlainTokens * kPlainOut),
            .shared_bytes = 2 * kPlainTokens * sizeof(float)},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(layernorm_linear, statistics_of_four_tokens_in_shared)
