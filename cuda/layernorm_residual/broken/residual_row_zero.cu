// SPDX-License-Identifier: Apache-2.0
// FAULT: residual is not advanced to the row: every row gets the first row of it.
// Caught by: the bound, on any fill whose rows differ, with more than one row.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, residual_row_zero) {

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static void advance(Rows<T>& m, std::int64_t row) { m.x += row * m.x_stride, m.y += row * m.y_stride; }
};

void run(const layernorm_residual::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(layernorm_residual, residual_row_zero)
