// SPDX-License-Identifier: Apache-2.0
// FAULT: erfc is 1 / (polynomial of degree six)^16 (Abramowitz and Stegun 7.1.28), right to 3e-7 beside 1, but not beside a
// small erfc.
// Kind: precision
// Shows: form erf in f32, x between -6 and -2.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, erfc_as_sixteenth_power) {

__device__ inline float erfc_of(float a) {
  const float p =
      fmaf(fmaf(fmaf(fmaf(fmaf(fmaf(0.0000430638f, a, 0.0002765672f), a, 0.0001520143f), a, 0.0092705272f), a, 0.0422820123f), a,
                0.0705230784f),
           a, 1.0f);
  const float p2 = p * p, p4 = p2 * p2, p8 = p4 * p4;
  return 1.0f / (p8 * p8);
}

template <class T>
struct Powers : Plain<T> {
  __device__ static float gelu(float z, bool erf_form) {
    if (!erf_form || !(fabsf(z) < 8.0f)) return Plain<T>::gelu(z, erf_form);
    const float tail = erfc_of(fabsf(z) * 0.7071067811865476f);
    return 0.5f * z * (z < 0.0f ? tail : 2.0f - tail);
  }
};

KERNEL_FROM(gelu, plain, Powers);

}  // namespace assay::ROOM(gelu, erfc_as_sixteenth_power)
