// SPDX-License-Identifier: Apache-2.0
// FAULT: r is rounded to the storage dtype before it meets x and the declaration does not say so.
// Caught by: T1, where terms do not cancel; half an ulp of r is half an ulp of y.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, half_scale) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Operands<T>& p, float squares) {
    return to_float(from_float<T>(Plain<T>::inverse(p, squares)));
  }
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm_gemm, half_scale)
