// SPDX-License-Identifier: Apache-2.0
// Two warpgroups take tiles in turns (small/ring.cuh).
#include "cuda/linear/small/ring.cuh"

namespace assay::ROOM(linear, ring_in_turns) {

KERNEL(linear){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::tokens, kRingTokens<true>), tile(Axis::out, kRingFeatures), tile(Axis::hidden, 64)},
    .numerics = {.accumulate = f32, .mma_terms = 16},
    .supports =
        [](const linear::Args& a) {
          return hopper_gemm::takes({&a.x, &a.weight}, a.y);
        },
};

void run(const linear::Args& a, const Launch& l) {
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) { run_ring<T, true>(a, l); });
}

}  // namespace assay::ROOM(linear, ring_in_turns)
