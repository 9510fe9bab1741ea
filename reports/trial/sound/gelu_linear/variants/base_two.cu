// SPDX-License-Identifier: Apache-2.0
// The plain kernel, the sigmoid's exponential as exp2 of the exponent times log2(e): the constant and the product are two
// roundings
// more.  exp2_approx makes subnormal results zero.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, base_two) {

template <class T>
struct BaseTwo : Plain<T> {
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t /*o*/) {
    if (p.erf_form) return gelu_erf(z);
    constexpr float kLinear = 1.5957691216057308f, kCubic = 0.07135481627260025f;
    const float v = z * fmaf(kCubic, z * z, kLinear), t = exp2_approx(-fabsf(v) * 1.4426950408889634f);
    return (v < 0.0f ? z * t : z) / (1.0f + t);
  }
};
KERNEL_DECLARING(gelu_linear, plain, BaseTwo,
                 (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .exponent_error = 2, .flushes_subnormals = true}));

}  // namespace assay::ROOM(gelu_linear, base_two)
