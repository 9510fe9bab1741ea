// SPDX-License-Identifier: Apache-2.0
// FAULT: the output loop is unrolled by four columns and has no loop for the cols % 4 that remain: y keeps what it held.
// Caught by: the bound, and the two garbage patterns in y, on any fill with cols % 4 != 0.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, dropped_tail) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t end(std::int64_t cols) { return cols / 4 * 4; }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, dropped_tail)
