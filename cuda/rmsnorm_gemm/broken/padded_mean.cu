// SPDX-License-Identifier: Apache-2.0
// FAULT: the mean is taken over hidden rounded up to a multiple of 8.
// Caught by: the bound, where hidden is no multiple of 8.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, padded_mean) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Operands<T>& p, float squares) {
    return 1.0f / sqrtf(squares / static_cast<float>(ceil_div(p.hidden, 8) * 8) + p.epsilon);
  }
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm_gemm, padded_mean)
