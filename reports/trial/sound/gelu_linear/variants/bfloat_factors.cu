// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its factors rounded to bf16 before they are multiplied, as declared.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, bfloat_factors) {

template <class T>
struct Narrow : Plain<T> {
  __device__ static float narrow(float v) { return to_float(from_float<bfloat16>(v)); }
  __device__ static float added(float sum, float x, float w) { return fmaf(narrow(x), narrow(w), sum); }
};
KERNEL_DECLARING(gelu_linear, plain, Narrow, (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .factors = {.precision = 8}}),
                 {f16, f32});

}  // namespace assay::ROOM(gelu_linear, bfloat_factors)
