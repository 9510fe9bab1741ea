// SPDX-License-Identifier: Apache-2.0
// FAULT: both sums are kept in the storage dtype and the declaration says f32.
// Caught by: T1, from a few channels on.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, half_accumulator) {

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::ffn, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float product(const T* x, const T* w, std::int64_t hidden) {
    T sum = from_float<T>(0);
    for (std::int64_t h = 0; h < hidden; ++h) sum = from_float<T>(fmaf(to_float(ld(x + h)), to_float(ld(w + h)), to_float(sum)));
    return to_float(sum);
  }
};

void run(const gemm_swiglu::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(gemm_swiglu, half_accumulator)
