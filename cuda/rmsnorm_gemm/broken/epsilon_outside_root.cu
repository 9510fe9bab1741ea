// SPDX-License-Identifier: Apache-2.0
// FAULT: epsilon is added to the root instead of the mean square.
// Caught by: the bound, on rows near zero (tiny_rows), and in f32 on any.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, epsilon_outside_root) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Operands<T>& p, float squares) {
    return 1.0f / (sqrtf(squares / static_cast<float>(p.hidden)) + p.epsilon);
  }
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm_gemm, epsilon_outside_root)
