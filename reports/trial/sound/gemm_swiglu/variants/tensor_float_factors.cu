// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its factors rounded to TF32's 11 bits by an integer addition (ties away from zero), as declared.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, tensor_float_factors) {

template <class T>
struct Narrow : Plain<T> {
  // Note: a NaN may have all its bits set, which the addition would carry into the sign.
  __device__ static float narrow(float v) {
    return v != v ? v : __builtin_bit_cast(float, (__builtin_bit_cast(unsigned, v) + 0x1000u) & ~0x1fffu);
  }
  __device__ static float added(float sum, float x, float w) { return fmaf(narrow(x), narrow(w), sum); }
};
KERNEL_DECLARING(gemm_swiglu, plain, Narrow, (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .factors = {.precision = 11}}),
                 {f32});

}  // namespace assay::ROOM(gemm_swiglu, tensor_float_factors)
