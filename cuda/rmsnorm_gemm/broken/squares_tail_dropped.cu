// SPDX-License-Identifier: Apache-2.0
// FAULT: beyond a full step of 32 channels, the squares of the rest are not added.
// Caught by: T1, hidden above 32 and no multiple of it.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, squares_tail_dropped) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float squares(const Operands<T>& p, std::int64_t token) {
    return Plain<T>::squares_of(p, token, p.hidden < 32 ? p.hidden : p.hidden / 32 * 32);
  }
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm_gemm, squares_tail_dropped)
