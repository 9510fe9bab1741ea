// SPDX-License-Identifier: Apache-2.0
// FAULT: eight tokens share the r of the first of them.
// Caught by: the bound, on rows of different size; several tokens.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, scale_of_tile) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float squares(const Operands<T>& p, std::int64_t token) {
    return Plain<T>::squares(p, token / 8 * 8);
  }
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm_gemm, scale_of_tile)
