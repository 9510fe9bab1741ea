// SPDX-License-Identifier: Apache-2.0
// FAULT: columns are counted in 16 bits: column 65,536 is column 0 again.
// Caught by: T1, and T4 by the two garbage patterns in y; more than 65,536 columns.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, short_columns) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t taken(std::int64_t c, std::int64_t) { return static_cast<unsigned short>(c); }
};
KERNEL_FROM(softmax, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(softmax, short_columns)
