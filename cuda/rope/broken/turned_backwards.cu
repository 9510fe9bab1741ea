// SPDX-License-Identifier: Apache-2.0
// FAULT: the sine has the other sign: the inverse rotation. Right at position 0, and for scores where q and k share it.
// Caught by: the comparison at any other position.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, turned_backwards) {

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kPlainThreads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .turn_error = kTurnError},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static Turn turn(const Problem<T>& p, int i, std::int64_t position) {
    const Turn forwards = Plain<T>::turn(p, i, position);
    return {forwards.cosine, -forwards.sine};
  }
};

void run(const rope::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rope, turned_backwards)
