// SPDX-License-Identifier: Apache-2.0
// FAULT: channels from rotary_dim on are left as they are in the output. Right in place, and where all of the head turns.
// Caught by: the comparison with a rotary_dim that is less; two runs on different garbage differ.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, tail_not_copied) {

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kPlainThreads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .turn_error = kTurnError},
};

void run(const rope::Args& a, const Launch& l) {
  run_plain<Plain>(a, l, [](auto& p) { p.dim = p.rotary; });
}

}  // namespace assay::ROOM(rope, tail_not_copied)
