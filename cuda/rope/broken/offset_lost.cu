// SPDX-License-Identifier: Apache-2.0
// FAULT: explicit position ids win, and the offset is added to none of them.
// Caught by: the comparison with explicit positions and an offset.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, offset_lost) {

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kPlainThreads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .turn_error = kTurnError},
};

void run(const rope::Args& a, const Launch& l) {
  run_plain<Plain>(a, l, [](auto& p) { if (p.positions != nullptr) p.offset = 0; });
}

}  // namespace assay::ROOM(rope, offset_lost)
