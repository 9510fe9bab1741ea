// SPDX-License-Identifier: Apache-2.0
// FAULT: gamma * W is rounded to the storage dtype and the declaration does not say so.
// Caught by: the bound, where terms cancel (fill cancelling).
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, rounded_weights) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float add_term(const Operands<T>& p, float sum, float x, float, float w, std::int64_t h) {
    return fmaf(x, to_float(from_float<T>(p.gamma_at(h) * w)), sum);
  }
  __device__ static float result(const Operands<T>&, float sum, float r, std::int64_t, std::int64_t) { return sum * r; }
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm_gemm, rounded_weights)
