// SPDX-License-Identifier: Apache-2.0
// FAULT: rows are counted in blockIdx.y, whose 65,535 were made to fit by capping the grid; the loop over the rest is missing.
// Caught by: the bound, and the two garbage patterns in y, on any fill with more than 65,535 rows.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, grid_overflow) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr int kThreads = 32;
  static dim3 grid(const Rows<T>& m) { return dim3(1, std::min<std::int64_t>(m.rows, 65535)); }
  __device__ static std::int64_t row() { return blockIdx.y; }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, grid_overflow)
