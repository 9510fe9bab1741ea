// SPDX-License-Identifier: Apache-2.0
// FAULT: the row passes through bfloat16, as a table that is kept in fewer bits does. Right for bf16.
// Caught by: the comparison in f16 and f32, which allows a copy no error at all.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, rounded_on_the_way) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static T element(const Rows<T>& m, std::int64_t id, std::int64_t h) {
    const float v = to_float(ld(m.table + id * m.table_stride + h));
    return from_float<T>(to_float(from_float<bfloat16>(v)));
  }
};
KERNEL_FROM(embedding, plain, Wrong);

}  // namespace assay::ROOM(embedding, rounded_on_the_way)
