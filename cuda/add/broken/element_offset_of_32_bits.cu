// SPDX-License-Identifier: Apache-2.0
// FAULT: an element's offset is kept in an int: right while the tensors have fewer than 2^31 elements.
// Caught by: T4, on the layout far: an access outside every tensor.
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, element_offset_of_32_bits) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static void element(const Matrices<T>& m, std::int64_t row, std::int64_t col) {
    const int a = static_cast<int>(row * m.a_stride + col), b = static_cast<int>(row * m.b_stride + col);
    const int y = static_cast<int>(row * m.y_stride + col);
    st(m.y + y, from_float<T>(to_float(ld(m.a + a)) + to_float(ld(m.b + b))));
  }
};
KERNEL_FROM(add, plain, Wrong);

}  // namespace assay::ROOM(add, element_offset_of_32_bits)
