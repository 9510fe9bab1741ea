// SPDX-License-Identifier: Apache-2.0
// FAULT: each warpgroup that gets a tile takes 240 registers a thread; with two of them an SM lacks them.
// Caught by: T4 on simt (bad_registers), several tiles a block.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_greedy_registers) {

struct Wrong : PlainTurns {
  static constexpr int kCopierRegisters = 32;
  __device__ static void take(int tiles) {
    if (tiles > 0) take_registers<240>();
  }
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_greedy_registers)
