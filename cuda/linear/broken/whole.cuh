// SPDX-License-Identifier: Apache-2.0
// The family "whole" (core/kernel_family.cuh): a product of up to 64 tokens by wgmma (core/hopper_whole.cuh).
#pragma once

#include "cuda/core/hopper_whole_product.cuh"
#include "cuda/core/kernel_family.cuh"
#include "ops/linear.hpp"

namespace assay::ASSAY_FLAVOUR::linear_room {

using PlainWhole = hopper_whole::Cut;

template <class F>
constexpr KernelTraits<linear> whole_traits() {
  return {.dtypes = {f16},
          .only_arch = 90,
          .tiles = {tile(Axis::out, hopper_whole::kFeatures), tile(Axis::hidden, hopper_whole::kChannels)},
          .numerics = {.accumulate = f32, .mma_terms = 16},
          .supports = [](const linear::Args& a) {
            return hopper_gemm::takes_few({&a.x, &a.weight}, a.y, a.bias.data);
          }};
}
template <class F>
void run_whole(const linear::Args& a, const Launch& l) {
  const hopper_gemm::AddBias epilogue{a.bias.data, static_cast<int>(a.y.shape[1])};
  hopper_whole::product<half, F>(a.x, a.weight, a.y, epilogue, l.stream);
}

}  // namespace assay::ASSAY_FLAVOUR::linear_room
