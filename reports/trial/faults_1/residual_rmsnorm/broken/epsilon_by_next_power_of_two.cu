// SPDX-License-Identifier: Apache-2.0
// FAULT: epsilon is added to the sum of squares over columns padded to a power of two, so it is too large by the ratio of
// padded columns to columns.
// Kind: algorithm
// Shows: a number of columns that is no power of two, in rows small beside epsilon.
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, epsilon_by_next_power_of_two) {

template <class T>
struct Scaled : Plain<T> {
  static __device__ float epsilon(const Rows<T>& m) {
    std::int64_t power = 1;
    while (power < m.cols) power *= 2;
    return m.epsilon * static_cast<float>(power) / static_cast<float>(m.cols);
  }
};

KERNEL_FROM(residual_rmsnorm, plain, Scaled);

}  // namespace assay::ROOM(residual_rmsnorm, epsilon_by_next_power_of_two)
