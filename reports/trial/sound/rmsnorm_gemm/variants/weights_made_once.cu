// SPDX-License-Identifier: Apache-2.0
// The plain kernel, gamma times the weight rounded to the dtype, as where it was made once for all tokens.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, weights_made_once) {

template <class T>
struct Rounded : Plain<T> {
  __device__ static float added(float sum, float x, float r, float gamma, float w) {
    return fmaf(x * r, to_float(from_float<T>(gamma * w)), sum);
  }
};
KERNEL_DECLARING(rmsnorm_gemm, plain, Rounded, (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .rounds_weights = true}),
                 {f16, bf16});

}  // namespace assay::ROOM(rmsnorm_gemm, weights_made_once)
