// SPDX-License-Identifier: Apache-2.0
// FAULT: x r is rounded to the storage dtype before gamma, as Llama's reference code does, and the declaration does not say so.
// In f32 there is nothing to round, so f16 and bf16 only.
// Caught by: the bound, on any random fill: two roundings where it pays for one.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, rounded_before_gamma) {

KERNEL(rmsnorm){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float scaled(float x, float r, float gamma) { return to_float(from_float<T>(x * r)) * gamma; }
};

void run(const rmsnorm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm, rounded_before_gamma)
