// SPDX-License-Identifier: Apache-2.0
// FAULT: threads without a pack, which load the first, count nothing in the mean but its squares in the variance.
// Kind: range
// Caught by: the bound, in rows whose packs are no multiple of 32.
#include "cuda/core/kernel_family.cuh"
#include "cuda/layernorm_residual/one_pack.cuh"

namespace assay::ROOM(layernorm_residual, first_pack_squared_again) {

struct Wrong : OnePackSteps {
  __device__ static bool squares_count(bool /*inside*/) { return true; }
};
KERNEL_FROM(layernorm_residual, one_pack, Wrong);

}  // namespace assay::ROOM(layernorm_residual, first_pack_squared_again)
