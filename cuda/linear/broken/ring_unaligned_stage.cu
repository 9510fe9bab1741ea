// SPDX-License-Identifier: Apache-2.0
// FAULT: stages lie 64 bytes too far apart, where a swizzle needs multiples of 1024.
// Caught by: T4 on simt (bad_box), more than 64 channels.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_unaligned_stage) {

struct Wrong : PlainRing {
  static constexpr int kApart = kBytes + 64;
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_unaligned_stage)
