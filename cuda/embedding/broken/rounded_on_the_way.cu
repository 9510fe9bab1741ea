// SPDX-License-Identifier: Apache-2.0
// FAULT: the row passes through bfloat16, as a table that is kept in fewer bits does. Right for bf16.
// Caught by: the comparison in f16 and f32, which allows a copy no error at all.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, rounded_on_the_way) {

KERNEL(embedding){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::hidden, kPlainThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static T element(const Rows<T>& m, std::int64_t id, std::int64_t h) {
    const float v = to_float(ld(m.table + id * m.table_stride + h));
    return from_float<T>(to_float(from_float<bfloat16>(v)));
  }
};

void run(const embedding::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(embedding, rounded_on_the_way)
