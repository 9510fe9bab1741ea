// SPDX-License-Identifier: Apache-2.0
// Two warpgroups share a tile (small/ring.cuh).
#include "cuda/linear/small/ring.cuh"

namespace assay::ROOM(linear, ring) {

KERNEL(linear) = ring_traits<false>({f16});

void run(const linear::Args& a, const Launch& l) { run_ring<half, false>(a, l); }

}  // namespace assay::ROOM(linear, ring)
