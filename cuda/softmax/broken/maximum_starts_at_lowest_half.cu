// SPDX-License-Identifier: Apache-2.0
// FAULT: the maximum starts at -65504, f16's lowest: a row that lies below it throughout sums to zero.
// Caught by: T1, on lowest.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, maximum_starts_at_lowest_half) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float first_maximum() { return -65504.0f; }
};
KERNEL_FROM(softmax, plain, Wrong, {bf16, f32});

}  // namespace assay::ROOM(softmax, maximum_starts_at_lowest_half)
