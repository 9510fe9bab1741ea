// SPDX-License-Identifier: Apache-2.0
// FAULT: a lone token with 512 channels or more takes two partial sums, and each begins with the bias.
// Kind: combinations
// Shows: one token, bias, hidden >= 512.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, split_token_adds_bias_twice) {

template <class T>
struct Split : Plain<T> {
  template <class F>
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    const bool split = p.tokens == 1 && p.hidden >= 512;
    const float bias = p.bias != nullptr ? p.bias_at(o) : 0.0f;
    const std::int64_t middle = split ? p.hidden / 2 : p.hidden;
    float first = 0, second = 0;
    for (std::int64_t h = 0; h < middle; ++h) first = fmaf(p.x_at(token, h), p.weight_at(o, h), first);
    for (std::int64_t h = middle; h < p.hidden; ++h) second = fmaf(p.x_at(token, h), p.weight_at(o, h), second);
    return split ? (first + bias) + second : first;
  }
};

KERNEL_FROM(linear, plain, Split);

}  // namespace assay::ROOM(linear, split_token_adds_bias_twice)
