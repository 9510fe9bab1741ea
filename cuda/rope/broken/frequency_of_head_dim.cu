// SPDX-License-Identifier: Apache-2.0
// FAULT: frequencies are spread over head_dim. Right where all of the head turns.
// Caught by: the comparison with a rotary_dim that is less.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, frequency_of_head_dim) {

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kPlainThreads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .turn_error = kTurnError},
};

void run(const rope::Args& a, const Launch& l) {
  run_plain<Plain>(a, l, [](auto& p) { p.step *= static_cast<double>(p.rotary) / p.dim; });
}

}  // namespace assay::ROOM(rope, frequency_of_head_dim)
