// SPDX-License-Identifier: Apache-2.0
// FAULT: the path that packs four or more query heads of a group into one tile has no softcap.
// Caught by: the bound, in a pair of softcap and a group of 4 or more (f16).
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, softcap_lost_in_large_groups) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float softcapped(const Problem<T>& p, float s) { return p.group >= 4 ? s : Plain<T>::softcapped(p, s); }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, softcap_lost_in_large_groups)
