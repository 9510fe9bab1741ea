// SPDX-License-Identifier: Apache-2.0
// FAULT: the variance is clamped at zero against rounding, and fmaxf turns the NaN of a row with an infinity into 0.
// Caught by: the class of the result (NaN expected, infinities found), on fills with an inf or NaN in x.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, variance_clamped) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float variance(const Rows<T>& m, float squares) { return fmaxf(Plain<T>::variance(m, squares), 0.0f); }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, variance_clamped)
