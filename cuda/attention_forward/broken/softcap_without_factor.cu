// SPDX-License-Identifier: Apache-2.0
// FAULT: scores become tanh(s / cap), not multiplied by cap again.
// Caught by: the bound, on any fill with a softcap other than 1; right without one.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, softcap_without_factor) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float softcapped(const Problem<T>& p, float s) { return p.cap > 0 ? tanhf(s / p.cap) : s; }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, softcap_without_factor)
