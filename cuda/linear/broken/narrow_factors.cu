// SPDX-License-Identifier: Apache-2.0
// FAULT: factors are rounded to 11 bits, as TF32 does, and the declaration says f32.
// Caught by: the bound, on almost every case.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, narrow_factors) {

KERNEL(linear){
    .dtypes = {f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  // Adding and taking away 2^13 times the value leaves its upper 11 bits.
  __device__ static float narrow(float v) {
    const float shifted = v * 8193.0f;
    return shifted - (shifted - v);
  }
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) sum = fmaf(narrow(p.x_at(token, h)), narrow(p.weight_at(o, h)), sum);
    return sum;
  }
};

void run(const linear::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(linear, narrow_factors)
