// SPDX-License-Identifier: Apache-2.0
// Two warpgroups share a tile (small/ring.cuh).
#include "cuda/linear/small/ring.cuh"

namespace assay::ROOM(linear, ring) {

KERNEL(linear){
    .dtypes = {f16},
    .only_arch = 90,
    .tiles = {tile(Axis::tokens, kRingTokens<false>), tile(Axis::out, kRingFeatures), tile(Axis::hidden, 64)},
    .numerics = {.accumulate = f32, .mma_terms = 16},
    .supports =
        [](const linear::Args& a) {
          return hopper_gemm::takes({&a.x, &a.weight}, a.y);
        },
};

void run(const linear::Args& a, const Launch& l) { run_ring<half, false>(a, l); }

}  // namespace assay::ROOM(linear, ring)
