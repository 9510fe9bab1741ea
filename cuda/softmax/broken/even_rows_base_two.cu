// SPDX-License-Identifier: Apache-2.0
// FAULT: rows of even number take exp as a power of two, the others as expf: a row's bits depend on where it lies.
// Caught by: the relations alone (rows_permuted), in f32 on any random row: either form is within the bound.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, even_rows_base_two) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float exponential(float v, std::int64_t row) { return row % 2 == 0 ? exp2f(v * 1.44269504f) : expf(v); }
};
KERNEL_FROM(softmax, plain, Wrong);

}  // namespace assay::ROOM(softmax, even_rows_base_two)
