// SPDX-License-Identifier: Apache-2.0
// FAULT: the squares are divided by cols - 1, as statistics packages do: a share 1/(2 cols) of the result.
// Caught by: the bound, on any random fill, the plainer the fewer the columns (2, 17), and as NaN where cols = 1 gives 0/0;
// hidden by the error of the mean on large_mean with thousands of columns.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, unbiased_variance) {

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Rows<T>& m, float squares) {
    return 1.0f / sqrtf(squares / static_cast<float>(m.cols - 1) + m.epsilon);
  }
};

void run(const layernorm_residual::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(layernorm_residual, unbiased_variance)
