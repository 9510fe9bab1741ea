// SPDX-License-Identifier: Apache-2.0
// FAULT: the mean is rounded to the storage dtype and the declaration does not say so.
// Caught by: T1, plainly where the mean is far from zero (large_mean, uniform01).
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, rounded_mean) {

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float mean(const Rows<T>& m) { return to_float(from_float<T>(Plain<T>::mean(m))); }
};

void run(const layernorm_residual::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(layernorm_residual, rounded_mean)
