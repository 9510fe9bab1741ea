// SPDX-License-Identifier: Apache-2.0
// FAULT: rows of the table are taken to lie hidden elements apart. Right where they do.
// Caught by: the comparison with layout padded, where NaN lies between the rows.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, packed_strides) {

KERNEL(embedding){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::hidden, kPlainThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static T element(const Rows<T>& m, std::int64_t id, std::int64_t h) { return ld(m.table + id * m.hidden + h); }
};

void run(const embedding::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(embedding, packed_strides)
