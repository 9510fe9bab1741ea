// SPDX-License-Identifier: Apache-2.0
// FAULT: cosine and sine are rounded to the storage dtype, as a table in the dtype of the model is.
// Caught by: the bound: an error of half an ulp of the dtype in either factor.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, table_in_storage) {

KERNEL(rope){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::head_dim, kPlainThreads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .turn_error = kTurnError},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static Turn turn(const Problem<T>& p, int i, std::int64_t position) {
    const Turn exact = Plain<T>::turn(p, i, position);
    return {to_float(from_float<T>(exact.cosine)), to_float(from_float<T>(exact.sine))};
  }
};

void run(const rope::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rope, table_in_storage)
