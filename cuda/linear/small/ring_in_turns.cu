// SPDX-License-Identifier: Apache-2.0
// Two warpgroups take tiles in turns (small/ring.cuh).
#include "cuda/linear/small/ring.cuh"

namespace assay::ROOM(linear, ring_in_turns) {

KERNEL(linear) = ring_traits<true>({f16, bf16});

void run(const linear::Args& a, const Launch& l) {
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) { run_ring<T, true>(a, l); });
}

}  // namespace assay::ROOM(linear, ring_in_turns)
