// SPDX-License-Identifier: Apache-2.0
// FAULT: the exponentials wait in y, in the storage dtype, for their sum, and the declaration does not say so.
// Caught by: T1, at about one element in ten of any random row.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, rounded_exponentials) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float waiting(float term) { return to_float(from_float<T>(term)); }
};
KERNEL_FROM(softmax, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(softmax, rounded_exponentials)
