// SPDX-License-Identifier: Apache-2.0
// The family "one_pack" (core/kernel_family.cuh): a block a row, a thread a 16-byte pack, with one of OnePackSteps replaced.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/layernorm_residual/one_pack.cuh"

namespace assay::ASSAY_FLAVOUR::layernorm_residual_room {

template <class Steps>
constexpr KernelTraits<layernorm_residual> one_pack_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp * kAccess)},
          .numerics = kOnePackNumerics,
          .supports = fits_one_pack};
}

}  // namespace assay::ASSAY_FLAVOUR::layernorm_residual_room
