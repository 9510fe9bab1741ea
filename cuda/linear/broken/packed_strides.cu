// SPDX-License-Identifier: Apache-2.0
// FAULT: rows of x are taken to touch each other.
// Caught by: layouts with padded rows.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, packed_strides) {

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float product(Operands<T> p, std::int64_t token, std::int64_t o) {
    p.x_stride = p.hidden;
    return Plain<T>::product(p, token, o);
  }
};

void run(const linear::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(linear, packed_strides)
