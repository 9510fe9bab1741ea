// SPDX-License-Identifier: Apache-2.0
// FAULT: erf by the rational form of three terms, which is good to 2.5e-5; the declaration has only the cancellation of 1 + erf.
// Kind: precision
// Caught by: the bound, with rows=7 cols=515 form=erf (f16).
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, erf_of_three_terms) {

template <class T>
struct Wrong : Plain<T> {
  // Abramowitz and Stegun, 7.1.25.
  __device__ static float erf_of(float x) {
    const float z = fabsf(x), t = 1.0f / fmaf(0.47047f, z, 1.0f);
    const float y = 1.0f - t * fmaf(t, fmaf(t, 0.7478556f, -0.0958798f), 0.3480242f) * expf(-z * z);
    return x < 0.0f ? -y : y;
  }
  __device__ static float gelu(float z, bool erf_form) {
    return erf_form ? 0.5f * z * (1.0f + erf_of(z * 0.7071067811865476f)) : gelu_tanh(z);
  }
};

constexpr KernelTraits<gelu> declared() {
  KernelTraits<gelu> traits = plain_traits<Wrong>();
  traits.numerics.cancelling_gelu = true;
  return traits;
}
KERNEL(gelu) = declared();

void run(const gelu::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(gelu, erf_of_three_terms)
