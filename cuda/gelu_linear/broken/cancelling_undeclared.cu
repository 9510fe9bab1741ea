// SPDX-License-Identifier: Apache-2.0
// FAULT: GELU as z/2 (1 + tanh) and z/2 (1 + erf), which cancels for negative z, and the declaration does not say so.
// Caught by: the bound in f32, at z from -6 to -2 (fill chosen).
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, cancelling_undeclared) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t) {
    const float u = z * fmaf(0.035677408136300125f, z * z, 0.7978845608028654f);
    return 0.5f * z * (1.0f + (p.erf_form ? erff(z * 0.7071067811865476f) : tanhf(u)));
  }
};
KERNEL_FROM(gelu_linear, plain, Wrong, {f32});

}  // namespace assay::ROOM(gelu_linear, cancelling_undeclared)
