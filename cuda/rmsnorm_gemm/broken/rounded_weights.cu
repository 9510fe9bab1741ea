// SPDX-License-Identifier: Apache-2.0
// FAULT: gamma * W is rounded to the storage dtype and the declaration does not say so.
// Caught by: the bound, where terms cancel (fill cancelling).
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, rounded_weights) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float added(float sum, float x, float, float gamma, float w) {
    return fmaf(x, to_float(from_float<T>(gamma * w)), sum);
  }
  __device__ static float result(const Operands<T>&, float sum, float r, const Place&) { return sum * r; }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(rmsnorm_gemm, rounded_weights)
