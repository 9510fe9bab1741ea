// SPDX-License-Identifier: Apache-2.0
// FAULT: one pass of 64 threads with four channels each sums the squares, and nothing takes the channels beyond 256; the mean
// is over all of them.
// Caught by: T1, with more than 256 channels.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, squares_of_one_pass) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float squares(const Operands<T>& p, std::int64_t token) {
    return Plain<T>::squares_of(p, token, p.hidden < 4 * kPlainThreads ? p.hidden : 4 * kPlainThreads);
  }
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm_gemm, squares_of_one_pass)
