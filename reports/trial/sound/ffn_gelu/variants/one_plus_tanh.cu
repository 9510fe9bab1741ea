// SPDX-License-Identifier: Apache-2.0
// Two launches with h in f32 between them, GELU as z/2 (1 + tanh) and z/2 (1 + erf), which cancel for negative z, as declared.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, one_plus_tanh) {

template <class T>
struct Cancelling : Plain<T> {
  __device__ float unit(float sum, float bias) const {
    constexpr float kLinear = 0.7978845608028654f, kCubic = 0.035677408136300125f;  // sqrt(2/pi), 0.044715 times it
    const float z = sum + bias;
    const float g = this->form == Activation::gelu_erf ? erff(z * 0.7071067811865476f) : tanhf(z * fmaf(kCubic, z * z, kLinear));
    return 0.5f * z * (1.0f + g);
  }
};
KERNEL_DECLARING(ffn_gelu, plain, Cancelling, (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .cancelling_gelu = true}));

}  // namespace assay::ROOM(ffn_gelu, one_plus_tanh)
