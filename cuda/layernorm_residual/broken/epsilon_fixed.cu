// SPDX-License-Identifier: Apache-2.0
// FAULT: epsilon is a constant of the kernel, 1e-5, whatever is asked for.
// Caught by: T1, with another epsilon: 1e-3 on any row, 1e-12 on rows of small deviation.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, epsilon_fixed) {

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Rows<T>& m, float squares) {
    return 1.0f / sqrtf(squares / static_cast<float>(m.cols) + 1e-5f);
  }
};

void run(const layernorm_residual::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(layernorm_residual, epsilon_fixed)
