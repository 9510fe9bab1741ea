// SPDX-License-Identifier: Apache-2.0
// FAULT: gamma is not applied to the channels beyond the last multiple of 8.
// Caught by: the bound, where hidden is no multiple of 8.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, gamma_dropped) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float add_term(const Operands<T>& p, float sum, float x, float r, float w, std::int64_t h) {
    const float scale = h < p.hidden / 8 * 8 ? p.gamma_at(h) : 1.0f;
    return fmaf(x * r * scale, w, sum);
  }
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm_gemm, gamma_dropped)
