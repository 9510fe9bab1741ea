// SPDX-License-Identifier: Apache-2.0
// FAULT: epsilon is added to the sum of squares, before it is divided by the number of columns.
// Kind: algorithm
// Shows: rows of small values, or a large epsilon.
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, epsilon_divided_by_columns) {

template <class T>
struct Divided : Plain<T> {
  static __device__ float epsilon(const Rows<T>& m) { return m.epsilon / static_cast<float>(m.cols); }
};
KERNEL_FROM(residual_rmsnorm, plain, Divided);

}  // namespace assay::ROOM(residual_rmsnorm, epsilon_divided_by_columns)
