// SPDX-License-Identifier: Apache-2.0
// FAULT: the squares are summed in the storage dtype and the declaration says f32.
// Caught by: the bound; overflow on large_rows in f16.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, half_squares) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float squares(const Operands<T>& p, std::int64_t token) {
    T squares = from_float<T>(0);
    for (std::int64_t h = 0; h < p.hidden; ++h)
      squares = from_float<T>(fmaf(p.x_at(token, h), p.x_at(token, h), to_float(squares)));
    return to_float(squares);
  }
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm_gemm, half_squares)
