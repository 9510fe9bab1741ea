// SPDX-License-Identifier: Apache-2.0
// FAULT: a block stores its sums of squares where those of x lie, without a barrier after they are read.  Right in rows of one
// warp.
// Kind: memory
// Caught by: the bound, in the orders in which a warp runs ahead, with more than 32 packs in a row; as a shared-memory race
// wherever races are watched.
#include "cuda/core/kernel_family.cuh"
#include "cuda/layernorm_residual/one_pack.cuh"

namespace assay::ROOM(layernorm_residual, squares_over_sums) {

struct Wrong : OnePackSteps {
  __device__ static float* squares(float* sums, int /*count*/) { return sums; }
};
KERNEL_FROM(layernorm_residual, one_pack, Wrong);

}  // namespace assay::ROOM(layernorm_residual, squares_over_sums)
