// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum is kept in the storage dtype and the declaration says f32.
// Caught by: the bound, from a few channels on.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, half_accumulator) {

KERNEL(linear){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    T sum = from_float<T>(0);
    for (std::int64_t h = 0; h < p.hidden; ++h) sum = from_float<T>(fmaf(p.x_at(token, h), p.weight_at(o, h), to_float(sum)));
    return to_float(sum);
  }
};

void run(const linear::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(linear, half_accumulator)
