// SPDX-License-Identifier: Apache-2.0
// The family "few" (core/kernel_family.cuh): a product of up to 64 tokens by wgmma (core/hopper_few.cuh), the channels split into
// parts that a second kernel adds.
#pragma once

#include "cuda/core/hopper_few_product.cuh"
#include "cuda/core/kernel_family.cuh"
#include "ops/linear.hpp"

namespace assay::ASSAY_FLAVOUR::linear_room {

// Every step as it should be.
struct PlainFew {
  static hopper_few::Work multiplied(hopper_few::Work work) { return work; }
  static hopper_few::Work joined(hopper_few::Work work) { return work; }
};

template <class F>
constexpr KernelTraits<linear> few_traits() {
  return {.dtypes = {f16},
          .only_arch = 90,
          .tiles = {tile(Axis::out, hopper_few::kFeatures), tile(Axis::hidden, hopper_few::kDeep)},
          .numerics = {.accumulate = f32, .mma_terms = 16},
          .supports =
              [](const linear::Args& a) {
                return hopper_few::takes({&a.x, &a.weight}, a.y, a.bias.data);
              },
          .workspace_bytes =
              [](const linear::Args& a) { return hopper_few::workspace_bytes(a.x.shape[0], a.y.shape[1], a.x.shape[1], 1); }};
}
template <class F>
void run_few(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const hopper_few::Work work = hopper_few::work_of(a.x, a.y, hopper_few::parts_of(a.y.shape[1], a.x.shape[1]));
  const hopper_few::AddBias epilogue{a.bias.data, work.features};
  hopper_few::with_tokens(a.y.shape[0], [&]<int kTokens>(std::integral_constant<int, kTokens>) {
    using S = hopper_few::Shape<kTokens, 1>;
    hopper_few::multiply<S, half>(F::multiplied(work), a.x, a.weight, nullptr, a.y, epilogue, l.workspace, l.stream, false);
    if (work.parts > 1) hopper_few::join<S, half>(F::joined(work), a.y, epilogue, l.workspace, l.stream);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::linear_room
