// SPDX-License-Identifier: Apache-2.0
// FAULT: gamma times the weight is rounded to the type of the tensors, which is not declared.
// Kind: precision
// Shows: f16 and bf16; f32 is right.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, gamma_weight_rounded) {

template <class T>
struct Folded : Plain<T> {
  __device__ static float added(float sum, float x, float r, float gamma, float w) {
    return fmaf(x * r, to_float(from_float<T>(gamma * w)), sum);
  }
};
KERNEL_FROM(rmsnorm_gemm, plain, Folded);

}  // namespace assay::ROOM(rmsnorm_gemm, gamma_weight_rounded)
