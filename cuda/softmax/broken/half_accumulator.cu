// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum is kept in the storage dtype, as a kernel written for T throughout has it. Right in f32, and for few
// columns.
// Caught by: the bound in f16 and bf16 on stagnation, where the small terms no longer move the sum, and on any long row.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, half_accumulator) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float sum_so_far(float sum) { return to_float(from_float<T>(sum)); }
};
KERNEL_FROM(softmax, plain, Wrong);

}  // namespace assay::ROOM(softmax, half_accumulator)
