// SPDX-License-Identifier: Apache-2.0
// FAULT: the reciprocal root by shifting bits and one step of Newton's, up to 1.8e-3 too small and never too large.
// Caught by: the aggregates alone (errors towards zero), on any random fill: what x r gamma may lose to bf16 hides it.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, quick_root) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr Numerics kNumerics = {.accumulate = f32, .chain = {.lanes = 1}, .stores_intermediate = true};
  __device__ static float inverse(const Operands<T>& p, float mean_square) {
    const float v = mean_square + p.epsilon;
    const float guess = __builtin_bit_cast(float, 0x5f3759dfu - (__builtin_bit_cast(unsigned, v) >> 1));
    return guess * (1.5f - 0.5f * v * guess * guess);
  }
  // As declared: what meets the weight is in the storage dtype.
  __device__ static float added(float sum, float x, float r, float gamma, float w) {
    return fmaf(to_float(from_float<T>(x * r * gamma)), w, sum);
  }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong, {bf16});

}  // namespace assay::ROOM(rmsnorm_gemm, quick_root)
