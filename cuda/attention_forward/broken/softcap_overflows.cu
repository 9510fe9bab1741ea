// SPDX-License-Identifier: Apache-2.0
// FAULT: tanh as (e^2x - 1) / (e^2x + 1): inf / inf where a score is more than 44 times the cap.
// Caught by: T1, on sharp_scores with a softcap of 0.5: NaN.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, softcap_overflows) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float softcapped(const Problem<T>& p, float s) {
    if (!(p.cap > 0)) return s;
    const float e = expf(2.0f * s / p.cap);
    return p.cap * (e - 1.0f) / (e + 1.0f);
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, softcap_overflows)
