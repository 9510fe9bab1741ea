// SPDX-License-Identifier: Apache-2.0
// FAULT: the offset of a slot is kept in an int, and a negative one means that the row is skipped: right in pools below 2^31
// elements.
// Caught by: T1 and T4, on the layout far: rows that are not written.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, slot_offset_of_32_bits) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t place(const Problem<T>& p, std::int64_t b, int row) {
    const int at = static_cast<int>(p.place(b, row));
    return at;
  }
};
KERNEL_FROM(kv_append, plain, Wrong);

}  // namespace assay::ROOM(kv_append, slot_offset_of_32_bits)
