// SPDX-License-Identifier: Apache-2.0
// FAULT: tanh(u) as (e^2u - 1) / (e^2u + 1): inf / inf from u = 44.4 on, where z is about 10.
// Caught by: T1, the class of the result: fills whose z is large (probe_saturated is exact, T0).
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, tanh_overflows) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr bool kCancelling = true;
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t) {
    const float u = z * fmaf(0.035677408136300125f, z * z, 0.7978845608028654f), e = expf(2.0f * u);
    return 0.5f * z * (1.0f + (p.erf_form ? erff(z * 0.7071067811865476f) : (e - 1.0f) / (e + 1.0f)));
  }
};
KERNEL_FROM(gelu_linear, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(gelu_linear, tanh_overflows)
