// SPDX-License-Identifier: Apache-2.0
// FAULT: a loss is kept from falling below zero by fmaxf, which also turns the NaN of a broken row into 0.
// Kind: range
// Caught by: the bound, with fill=nan_in_row (f16).
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, loss_clamped_at_zero) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float loss(const fold::LogSumExp& seen, float x) { return fmaxf(Plain<T>::loss(seen, x), 0.0f); }
};
KERNEL_FROM(cross_entropy, plain, Wrong);

}  // namespace assay::ROOM(cross_entropy, loss_clamped_at_zero)
