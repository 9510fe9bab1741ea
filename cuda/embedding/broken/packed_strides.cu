// SPDX-License-Identifier: Apache-2.0
// FAULT: rows of the table are taken to lie hidden elements apart. Right where they do.
// Caught by: the comparison with layout padded, where NaN lies between the rows.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, packed_strides) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static T element(const Rows<T>& m, std::int64_t id, std::int64_t h) { return ld(m.table + id * m.hidden + h); }
};
KERNEL_FROM(embedding, plain, Wrong);

}  // namespace assay::ROOM(embedding, packed_strides)
