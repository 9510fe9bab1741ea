// SPDX-License-Identifier: Apache-2.0
// FAULT: the output loop is unrolled by four columns and has no loop for the cols % 4 that remain: y keeps what it held.
// Caught by: the bound, and the two garbage patterns in y, on any fill with cols % 4 != 0.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, dropped_tail) {

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t end(std::int64_t cols) { return cols / 4 * 4; }
};

void run(const layernorm_residual::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(layernorm_residual, dropped_tail)
