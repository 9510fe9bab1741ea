// SPDX-License-Identifier: Apache-2.0
// FAULT: the row is padded with zeros up to a multiple of the block, and the padding is part of maximum and sum. Right where
// cols is such a multiple.
// Caught by: the bound on all_far_below_zero and probe_hot, and on any row with few columns.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, padding_counted) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t summed(std::int64_t cols) { return ceil_div(cols, kPlainThreads) * kPlainThreads; }
  static __device__ float at(const T* x, std::int64_t c, std::int64_t cols) { return c < cols ? to_float(ld(x + c)) : 0.0f; }
};
KERNEL_FROM(softmax, plain, Wrong);

}  // namespace assay::ROOM(softmax, padding_counted)
