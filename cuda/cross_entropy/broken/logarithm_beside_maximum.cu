// SPDX-License-Identifier: Apache-2.0
// FAULT: (max + log sum) - x[target]: the sum is rounded beside a large maximum, and the difference shows it.
// Caught by: the bound on large_mean_1000 and shifted_rows.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, logarithm_beside_maximum) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float loss(const fold::LogSumExp& seen, float x) { return seen.result() - x; }
};
KERNEL_FROM(cross_entropy, plain, Wrong);

}  // namespace assay::ROOM(cross_entropy, logarithm_beside_maximum)
