// SPDX-License-Identifier: Apache-2.0
// FAULT: erf is a polynomial in 1 / (1 + 0.3275911 x) that is good to 1.5e-7 absolutely, so negative results lose their digits.
// Kind: precision
// Shows: form erf, negative inputs, mostly f32.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, erf_by_short_series) {

template <class T>
struct Series : Plain<T> {
  __device__ static float gelu(float z, bool erf_form) {
    if (!erf_form) return gelu_tanh(z);
    const float x = fabsf(z) * 0.7071067811865476f, t = 1.0f / fmaf(0.3275911f, x, 1.0f);
    float p = 1.061405429f;
    p = fmaf(p, t, -1.453152027f), p = fmaf(p, t, 1.421413741f), p = fmaf(p, t, -0.284496736f), p = fmaf(p, t, 0.254829592f);
    const float tail = 0.5f * p * t * expf(-x * x);
    return z < 0 ? z * tail : z - z * tail;
  }
};
KERNEL_FROM(gelu, plain, Series);

}  // namespace assay::ROOM(gelu, erf_by_short_series)
