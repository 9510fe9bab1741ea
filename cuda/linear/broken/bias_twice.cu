// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum starts from the bias, and the bias is added again at the end.
// Caught by: the bound, wherever there is a bias.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, bias_twice) {

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    float sum = p.bias != nullptr ? p.bias_at(o) : 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) sum = fmaf(p.x_at(token, h), p.weight_at(o, h), sum);
    return sum;
  }
};

void run(const linear::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(linear, bias_twice)
