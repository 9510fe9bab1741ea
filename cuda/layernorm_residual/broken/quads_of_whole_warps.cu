// SPDX-License-Identifier: Apache-2.0
// FAULT: the quads to be read are chosen by the whole warps of packs: the sum of a 13th or 21st warp that is less than whole is
// stored, and never read.
// Kind: range
// Caught by: the bound, with 385 to 415 or 641 to 671 packs in a row.
#include "cuda/core/kernel_family.cuh"
#include "cuda/layernorm_residual/one_pack.cuh"

namespace assay::ROOM(layernorm_residual, quads_of_whole_warps) {

struct Wrong : OnePackSteps {
  template <int>
  static constexpr int kSums = kMostWarps;
  static std::int64_t warps(std::int64_t packs) { return packs / kWarp; }
};
KERNEL_FROM(layernorm_residual, one_pack, Wrong);

}  // namespace assay::ROOM(layernorm_residual, quads_of_whole_warps)
