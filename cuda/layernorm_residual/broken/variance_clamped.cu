// SPDX-License-Identifier: Apache-2.0
// FAULT: the variance is clamped at zero against rounding, and fmaxf turns the NaN of a row with an infinity into 0.
// Caught by: the class of the result (NaN expected, infinities found), on fills with an inf or NaN in x.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, variance_clamped) {

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Rows<T>& m, float squares) {
    return 1.0f / sqrtf(fmaxf(squares / static_cast<float>(m.cols), 0.0f) + m.epsilon);
  }
};

void run(const layernorm_residual::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(layernorm_residual, variance_clamped)
