// SPDX-License-Identifier: Apache-2.0
// FAULT: channel i is paired with i + rotary_dim/2 whatever the layout, as where a checkpoint is not permuted.
// Caught by: the comparison with layout_of_pairs=interleaved; on one_channel by where the zeros are.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, half_for_interleaved) {

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kPlainThreads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .turn_error = kTurnError},
};

void run(const rope::Args& a, const Launch& l) {
  run_plain<Plain>(a, l, [](auto& p) { p.interleaved = false; });
}

}  // namespace assay::ROOM(rope, half_for_interleaved)
