// SPDX-License-Identifier: Apache-2.0
// FAULT: tokens beyond the last multiple of 8 add their channels from the last to the first, so a token's bits depend on how
// many there are.
// Caught by: the relations alone (tokens_permuted, first_tokens), in f32 on any random fill: both orders are within the bound.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, last_tokens_backwards) {

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    const bool backwards = token >= p.tokens / 8 * 8;
    float sum = 0;
    for (std::int64_t i = 0; i < p.hidden; ++i) {
      const std::int64_t h = backwards ? p.hidden - 1 - i : i;
      sum = fmaf(p.x_at(token, h), p.weight_at(o, h), sum);
    }
    return sum;
  }
};

void run(const linear::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(linear, last_tokens_backwards)
