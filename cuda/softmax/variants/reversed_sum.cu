// SPDX-License-Identifier: Apache-2.0
// A row a block, its columns taken from the last to the first.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, reversed_sum) {

template <class T>
struct Reversed : Plain<T> {
  static __device__ std::int64_t taken(std::int64_t c, std::int64_t cols) { return cols - 1 - c; }
};
KERNEL_FROM(softmax, plain, Reversed);

}  // namespace assay::ROOM(softmax, reversed_sum)
