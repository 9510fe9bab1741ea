// SPDX-License-Identifier: Apache-2.0
// FAULT: stages lie 1024 bytes closer together than they are long.
// Caught by: T4 on simt (in_flight or wgmma_reads), more than 64 channels.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_stages_overlap) {

struct Wrong : PlainRing {
  static constexpr int kApart = kBytes - 1024;
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_stages_overlap)
