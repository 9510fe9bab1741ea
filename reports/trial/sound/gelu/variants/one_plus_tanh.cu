// SPDX-License-Identifier: Apache-2.0
// A thread an element, GELU as x/2 (1 + tanh) and x/2 (1 + erf), which cancel for negative x, as declared.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, one_plus_tanh) {

template <class T>
struct Cancelling : Plain<T> {
  __device__ static float gelu(float z, bool erf_form) {
    constexpr float kLinear = 0.7978845608028654f, kCubic = 0.035677408136300125f;  // sqrt(2/pi), 0.044715 times it
    const float g = erf_form ? erff(z * 0.7071067811865476f) : tanhf(z * fmaf(kCubic, z * z, kLinear));
    return 0.5f * z * (1.0f + g);
  }
};
KERNEL_DECLARING(gelu, plain, Cancelling, (Numerics{.accumulate = f32, .cancelling_gelu = true}));

}  // namespace assay::ROOM(gelu, one_plus_tanh)
