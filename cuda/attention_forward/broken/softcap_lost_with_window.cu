// SPDX-License-Identifier: Apache-2.0
// FAULT: the path for windows has no softcap. Right with one of the two.
// Caught by: T1, where a window is combined with a softcap.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, softcap_lost_with_window) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float softcapped(const Problem<T>& p, float s) { return p.window > 0 ? s : Plain<T>::softcapped(p, s); }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, softcap_lost_with_window)
