// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum behind the last warp's is cleared only where that warp has a thread without a pack: with whole warps, garbage
// is counted.
// Kind: memory
// Caught by: the bound, as the garbage is NaN there, in rows of 32 n packs other than 384, 640 and 1024.
#include "cuda/core/kernel_family.cuh"
#include "cuda/layernorm_residual/one_pack.cuh"

namespace assay::ROOM(layernorm_residual, sum_behind_last_warp) {

struct Wrong : OnePackSteps {
  __device__ static bool without_warp(int i, int packs) { return i * kWarp > packs; }
};
KERNEL_FROM(layernorm_residual, one_pack, Wrong);

}  // namespace assay::ROOM(layernorm_residual, sum_behind_last_warp)
