// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its products and both sums rounded to f16, as declared.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, half_sums) {

template <class T>
struct Narrow : Plain<T> {
  __device__ static float rounded(float v) { return to_float(from_float<half>(v)); }
  __device__ static float added(float sum, float x, float w) { return rounded(sum + rounded(x * w)); }
};
KERNEL_DECLARING(gemm_swiglu, plain, Narrow, (Numerics{.accumulate = f16, .chain = {.lanes = 1}}), {f16});

}  // namespace assay::ROOM(gemm_swiglu, half_sums)
