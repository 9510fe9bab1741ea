// SPDX-License-Identifier: Apache-2.0
// FAULT: tokens beyond the first 128 are scaled by r once more at the end.
// Caught by: the bound, from the 129th token on.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, scaled_twice) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float result(const Operands<T>&, float sum, float r, std::int64_t token, std::int64_t) {
    return token < 128 ? sum : sum * r;
  }
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm_gemm, scaled_twice)
