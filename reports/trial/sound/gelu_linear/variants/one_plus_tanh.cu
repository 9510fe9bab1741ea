// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its GELU as z/2 + z/2 tanh and z/2 + z/2 erf, which cancel for negative z, as declared.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, one_plus_tanh) {

template <class T>
struct Cancelling : Plain<T> {
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t /*o*/) {
    constexpr float kLinear = 0.7978845608028654f, kCubic = 0.035677408136300125f;  // sqrt(2/pi), 0.044715 times it
    const float h = 0.5f * z;
    return fmaf(h, p.erf_form ? erff(z * 0.7071067811865476f) : tanhf(z * fmaf(kCubic, z * z, kLinear)), h);
  }
};
KERNEL_DECLARING(gelu_linear, plain, Cancelling, (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .cancelling_gelu = true}));

}  // namespace assay::ROOM(gelu_linear, one_plus_tanh)
