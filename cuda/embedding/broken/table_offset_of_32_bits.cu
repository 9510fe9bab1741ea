// SPDX-License-Identifier: Apache-2.0
// FAULT: id times stride is kept in an int: right while the table has fewer than 2^31 elements.
// Caught by: T4, on the layout far: an access outside every tensor.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, table_offset_of_32_bits) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static T element(const Rows<T>& m, std::int64_t id, std::int64_t h) {
    const int offset = static_cast<int>(id * m.table_stride);
    return ld(m.table + offset + h);
  }
};
KERNEL_FROM(embedding, plain, Wrong);

}  // namespace assay::ROOM(embedding, table_offset_of_32_bits)
