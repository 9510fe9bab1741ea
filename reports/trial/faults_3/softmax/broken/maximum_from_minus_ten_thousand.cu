// SPDX-License-Identifier: Apache-2.0
// FAULT: the maximum starts at -10000.
// Kind: ranges
// Shows: rows whose elements are all far below -10000.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, maximum_from_minus_ten_thousand) {

template <class T>
struct Floor : Plain<T> {
  static __device__ float first_maximum() { return -1e4f; }
};
KERNEL_FROM(softmax, plain, Floor);

}  // namespace assay::ROOM(softmax, maximum_from_minus_ten_thousand)
