// SPDX-License-Identifier: Apache-2.0
// FAULT: rows of x are taken to touch each other.
// Caught by: layouts with padded rows.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, packed_strides) {

template <class T>
struct Wrong : Plain<T> {
  static void change(Operands<T>& p) { p.x_stride = p.hidden; }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, packed_strides)
