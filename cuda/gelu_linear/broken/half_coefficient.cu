// SPDX-License-Identifier: Apache-2.0
// FAULT: sqrt(2/pi) of the tanh form was rounded to f16: 0.79785. Right in the erf form, and where GELU is saturated.
// Caught by: T1 in f32, on moderate z; f16 and bf16 hide it except where GELU is small beside z.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, half_coefficient) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t) {
    const float linear = 2.0f * 0.7978515625f, u = z * linear * fmaf(0.044715f, z * z, 1.0f);
    return p.erf_form ? gelu_erf(z) : times_sigmoid(z, u);
  }
};
KERNEL_FROM(gelu_linear, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(gelu_linear, half_coefficient)
