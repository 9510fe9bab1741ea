// SPDX-License-Identifier: Apache-2.0
// FAULT: a channel whose activation is zero is passed over, as where half of them are: 0 times an infinite or NaN weight is
// lost.
// Caught by: T1, on special_weights.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, zero_activation_skipped) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float added(float sum, float x, float w) { return x == 0.0f ? sum : fmaf(x, w, sum); }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, zero_activation_skipped)
