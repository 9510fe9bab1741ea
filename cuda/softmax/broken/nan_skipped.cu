// SPDX-License-Identifier: Apache-2.0
// FAULT: a term that fails a comparison, as NaN does, is left out of the sum: one NaN in the row, where all of it should be.
// Caught by: T1, the class of the result; nan_in_row.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, nan_skipped) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ bool counts(float term) { return term >= 0; }
};
KERNEL_FROM(softmax, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(softmax, nan_skipped)
