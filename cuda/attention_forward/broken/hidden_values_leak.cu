// SPDX-License-Identifier: Apache-2.0
// FAULT: a hidden key gets the weight 0 and is multiplied all the same: 0 times a NaN or an infinity of its V is NaN.
// Caught by: the class of O, with a mask or a window and a V that is not finite; right on all finite inputs.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, hidden_values_leak) {

template <class T>
struct Wrong : Tiled<T> {
  static __device__ bool weighed(bool) { return true; }
};
KERNEL_FROM(attention_forward, tiled, Wrong);

}  // namespace assay::ROOM(attention_forward, hidden_values_leak)
