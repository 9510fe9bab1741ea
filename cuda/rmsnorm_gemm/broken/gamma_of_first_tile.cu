// SPDX-License-Identifier: Apache-2.0
// FAULT: gamma is taken by the channel's place in a tile of 128: every tile gets that of the first.
// Caught by: T1, with more than 128 channels.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, gamma_of_first_tile) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float add_term(const Operands<T>& p, float sum, float x, float r, float w, std::int64_t h) {
    return Plain<T>::add_term(p, sum, x, r, w, h % 128);
  }
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm_gemm, gamma_of_first_tile)
