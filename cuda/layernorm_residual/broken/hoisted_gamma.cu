// SPDX-License-Identifier: Apache-2.0
// FAULT: a thread takes the gamma and beta of its first column for all its columns, as if loaded once before the loop.
// Caught by: the bound, on any fill of varying weights with cols > 128; right up to there.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, hoisted_gamma) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float layernorm(const Rows<T>& m, std::int64_t c, float mean, float r) {
    const std::int64_t first = threadIdx.x;
    return fmaf((m.x_at(c) - mean) * r, to_float(ld(m.gamma + first)), to_float(ld(m.beta + first)));
  }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, hoisted_gamma)
