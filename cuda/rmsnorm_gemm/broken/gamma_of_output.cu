// SPDX-License-Identifier: Apache-2.0
// FAULT: gamma is applied after the product, to output o that of channel o.
// Caught by: the bound.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, gamma_of_output) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float add_term(const Operands<T>&, float sum, float x, float r, float w, std::int64_t) {
    return fmaf(x * r, w, sum);
  }
  __device__ static float result(const Operands<T>& p, float sum, float, std::int64_t, std::int64_t o) {
    return sum * p.gamma_at(o % p.hidden);
  }
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm_gemm, gamma_of_output)
