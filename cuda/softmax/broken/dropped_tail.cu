// SPDX-License-Identifier: Apache-2.0
// FAULT: the columns are taken in fours, and nothing takes the cols % 4 that remain: they are missing from the sum, and y
// keeps what it held.
// Caught by: the two garbage patterns in y, and the bound, wherever cols % 4 != 0.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, dropped_tail) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t summed(std::int64_t cols) { return cols / 4 * 4; }
  static __device__ std::int64_t written(std::int64_t cols) { return cols / 4 * 4; }
};
KERNEL_FROM(softmax, plain, Wrong);

}  // namespace assay::ROOM(softmax, dropped_tail)
