// SPDX-License-Identifier: Apache-2.0
// FAULT: the last four outputs of a ragged row are computed by moving back the last four, and the bias is moved back twice.
// Kind: combinations
// Shows: a bias and a number of outputs that four does not divide.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, bias_of_shifted_tail) {

inline constexpr int kEach = 4;

template <class T>
__global__ void layernorm_linear_fours(Plain<T> p) {
  const std::int64_t token = blockIdx.x / p.blocks_across, block = blockIdx.x % p.blocks_across;
  const std::int64_t wanted = (block * kWarp + threadIdx.x) * kEach;
  if (wanted >= p.out) return;
  const std::int64_t first = wanted + kEach <= p.out ? wanted : p.out - kEach;
  const float mean = p.mean(token), r = p.inverse(token, mean);
  float sum[kEach] = {};
  for (std::int64_t h = 0; h < p.hidden; ++h) {
    const float n = fmaf((p.at(token, h) - mean) * r, p.scale(h), p.offset(h));
#pragma unroll
    for (int j = 0; j < kEach; ++j) sum[j] = fmaf(n, p.factor(first + j, h), sum[j]);
  }
#pragma unroll
  for (int j = 0; j < kEach; ++j) {
    const std::int64_t of_bias = wanted + j < p.out ? wanted + j : p.out - 1;
    // Where two threads compute an output the first one stores it.
    if (first + j < wanted) continue;
    const float bias = p.bias != nullptr ? to_float(ld(p.bias + (first == wanted ? of_bias : first + j - (wanted - first)))) : 0;
    st(p.y + token * p.y_stride + first + j, from_float<T>(sum[j] + bias));
  }
}

KERNEL(layernorm_linear) = plain_traits<Formula>();

void run(const layernorm_linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], across = ceil_div(out, kWarp * kEach);
  if (tokens == 0 || out == 0) return;
  if (out < 2 * kEach) return run_plain<Formula>(a, l);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Plain<T> p{a.x.as<T>(),   a.gamma.as<T>(), a.beta.as<T>(),     a.weight.as<T>(), a.bias.as<T>(),
                     a.y.as<T>(),   tokens,          a.x.shape[1],       out,              a.x.stride[0],
                     a.weight.stride[0], a.y.stride[0], across, static_cast<float>(a.epsilon)};
    launch(layernorm_linear_fours<T>, {.grid = dim3(tokens * across), .block = dim3(kWarp)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(layernorm_linear, bias_of_shifted_tail)
