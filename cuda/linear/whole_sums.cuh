// SPDX-License-Identifier: Apache-2.0
// sm90_whole_sums for some dtypes: what it declares, and its launch.
#pragma once

#include "cuda/core/hopper_whole_product.cuh"
#include "ops/linear.hpp"

namespace assay::ASSAY_FLAVOUR::linear_room {

constexpr KernelTraits<linear> whole_sums_traits(DTypes dtypes) {
  return {.dtypes = dtypes,
          .only_arch = 90,
          .tiles = {tile(Axis::out, hopper_whole::kFeatures), tile(Axis::hidden, hopper_whole::kChannels)},
          .numerics = {.accumulate = f32, .mma_terms = 16},
          .supports = [](const linear::Args& a) {
            return hopper_gemm::takes_few({&a.x, &a.weight}, a.y, a.bias.data);
          }};
}

template <class T>
void run_whole_sums(const linear::Args& a, const Launch& l) {
  const hopper_gemm::AddBias epilogue{a.bias.data, static_cast<int>(a.y.shape[1])};
  hopper_whole::product<T>(a.x, a.weight, a.y, epilogue, l.stream, l.after);
}

}  // namespace assay::ASSAY_FLAVOUR::linear_room
