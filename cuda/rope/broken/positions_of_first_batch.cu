// SPDX-License-Identifier: Apache-2.0
// FAULT: every sequence takes the position ids of the first.
// Caught by: the comparison with explicit positions and two sequences.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, positions_of_first_batch) {

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kPlainThreads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .turn_error = kTurnError},
};

void run(const rope::Args& a, const Launch& l) {
  run_plain<Plain>(a, l, [](auto& p) { p.positions_batch = 0; });
}

}  // namespace assay::ROOM(rope, positions_of_first_batch)
