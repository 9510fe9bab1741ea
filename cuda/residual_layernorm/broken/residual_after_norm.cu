// SPDX-License-Identifier: Apache-2.0
// FAULT: up to 4 rows, as one token each makes them, have the residual added to the LayerNorm of x instead of to x, as
// layernorm_residual has it; s is right.
// Caught by: the bound of y, on any fill with a residual that is not zero.
#include "cuda/residual_layernorm/broken/plain.cuh"

namespace assay::ROOM(residual_layernorm, residual_after_norm) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ bool after() { return gridDim.x <= 4; }
  static __device__ float normed(float x, float residual) { return after() ? x : Plain<T>::normed(x, residual); }
  static __device__ float output(float normalised, float residual) { return after() ? normalised + residual : normalised; }
};
KERNEL_FROM(residual_layernorm, plain, Wrong);

}  // namespace assay::ROOM(residual_layernorm, residual_after_norm)
