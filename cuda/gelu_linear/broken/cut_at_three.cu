// SPDX-License-Identifier: Apache-2.0
// FAULT: beyond z = 3 GELU is taken for z and below -3 for 0, up to 4e-3 too early.
// Caught by: T1, at |z| from 3 to 6 (chosen, normal).
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, cut_at_three) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t o) {
    return z > 3.0f ? z : z < -3.0f ? 0.0f : Plain<T>::gelu(p, z, o);
  }
};
KERNEL_FROM(gelu_linear, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(gelu_linear, cut_at_three)
