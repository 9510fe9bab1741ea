// SPDX-License-Identifier: Apache-2.0
// FAULT: warpgroups take tiles in turns and none waits for its own: a parity passes on the other's stages.
// Caught by: T4 on simt (in_flight, wgmma_reads or deadlock), several tiles a block.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_without_turns) {

struct Wrong : PlainTurns {
  __device__ static void turn(int /*me*/) {}
  __device__ static void pass_turn(int /*me*/) {}
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_without_turns)
