// SPDX-License-Identifier: Apache-2.0
// sm90_few_tokens for some dtypes: what it declares, and its launch.
#pragma once

#include "cuda/core/hopper_few_product.cuh"
#include "ops/linear.hpp"

namespace assay::ASSAY_FLAVOUR::linear_room {

constexpr KernelTraits<linear> few_tokens_traits(DTypes dtypes) {
  return {.dtypes = dtypes,
          .only_arch = 90,
          .tiles = {tile(Axis::out, hopper_few::kFeatures), tile(Axis::hidden, hopper_few::kDeep)},
          .numerics = {.accumulate = f32, .mma_terms = 16},
          .supports =
              [](const linear::Args& a) {
                return hopper_gemm::takes_few({&a.x, &a.weight}, a.y, a.bias.data);
              },
          .workspace_bytes =
              [](const linear::Args& a) { return hopper_few::workspace_bytes(a.x.shape[0], a.y.shape[1], a.x.shape[1], 1); }};
}

template <class T>
void run_few_tokens(const linear::Args& a, const Launch& l) {
  const hopper_few::AddBias epilogue{a.bias.data, static_cast<int>(a.y.shape[1])};
  hopper_few::product<T, 1>(a.x, a.weight, nullptr, a.y, epilogue, l.workspace, l.stream, l.after);
}

}  // namespace assay::ASSAY_FLAVOUR::linear_room
