// SPDX-License-Identifier: Apache-2.0
// FAULT: the path that packs four or more query heads of a group into one tile has no softcap.
// Kind: combination
// Caught by: nothing yet
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, softcap_lost_in_large_groups) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float softcapped(const Problem<T>& p, float s) { return p.group >= 4 ? s : Plain<T>::softcapped(p, s); }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, softcap_lost_in_large_groups)
