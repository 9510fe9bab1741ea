// SPDX-License-Identifier: Apache-2.0
// FAULT: the maximum starts at 0 instead of -inf, for logsumexp as well. Right where a row has a value above zero, and for
// logsumexp while exp does not underflow.
// Caught by: the comparison on probe_hot and all_far_below_zero: 0 for a negative maximum, -inf for a logarithm.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, maximum_starts_at_zero) {

template <class T>
struct Wrong : Plain<T> {
  template <class Fold>
  __device__ static Fold start() {
    Fold f;
    if constexpr (std::is_same_v<Fold, fold::Max>) f.value = 0;
    if constexpr (std::is_same_v<Fold, fold::LogSumExp>) f.max = 0;
    return f;
  }
};
KERNEL_FROM(row_reduce, plain, Wrong);

}  // namespace assay::ROOM(row_reduce, maximum_starts_at_zero)
