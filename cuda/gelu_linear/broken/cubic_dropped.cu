// SPDX-License-Identifier: Apache-2.0
// FAULT: the tanh form without its term in z^3. Right in the erf form, and where GELU is saturated.
// Caught by: T1, on moderate z (unit, chosen); up to 3e-2 away.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, cubic_dropped) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t) {
    return p.erf_form ? gelu_erf(z) : times_sigmoid(z, 1.5957691216057308f * z);
  }
};
KERNEL_FROM(gelu_linear, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(gelu_linear, cubic_dropped)
