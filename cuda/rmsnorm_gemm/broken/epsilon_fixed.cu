// SPDX-License-Identifier: Apache-2.0
// FAULT: epsilon is a constant of the kernel, 1e-5, whatever is asked for.
// Caught by: T1, with another epsilon: 1e-3 on any row; T0 with 0.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, epsilon_fixed) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Operands<T>& p, float squares) {
    return 1.0f / sqrtf(squares / static_cast<float>(p.hidden) + 1e-5f);
  }
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm_gemm, epsilon_fixed)
