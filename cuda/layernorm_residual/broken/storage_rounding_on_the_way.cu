// SPDX-License-Identifier: Apache-2.0
// FAULT: the normalised value is rounded to the storage dtype before gamma and beta, as a framework without autocast
// does, and the declaration does not say so.  In f32 there is nothing to round, so f16 and bf16 only.
// Caught by: the bound, on random fills, at elements where residual cancels most of the LayerNorm.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, storage_rounding_on_the_way) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float layernorm(const Rows<T>& m, std::int64_t c, float mean, float r) {
    const T stored = from_float<T>((m.x_at(c) - mean) * r);
    return fmaf(to_float(stored), to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)));
  }
};
KERNEL_FROM(layernorm_residual, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(layernorm_residual, storage_rounding_on_the_way)
