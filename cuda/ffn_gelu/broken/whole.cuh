// SPDX-License-Identifier: Apache-2.0
// The family "whole" (core/kernel_family.cuh): both products of up to 64 tokens by wgmma (core/hopper_whole.cuh), h in workspace.
#pragma once

#include "cuda/core/hopper_whole_product.cuh"
#include "cuda/core/kernel_family.cuh"
#include "cuda/core/product.cuh"
#include "ops/ffn_gelu.hpp"

namespace assay::ASSAY_FLAVOUR::ffn_gelu_room {

// Cut's steps are those of the second product.
struct PlainWhole : hopper_whole::Cut {
  static Tensor units(const ffn_gelu::Args& a, void* workspace) {
    return product::in_workspace(workspace, a.x.dtype, a.x.shape[0], a.w1.shape[0]);
  }
};

template <class F>
constexpr KernelTraits<ffn_gelu> whole_traits() {
  Numerics numerics = hopper_gemm::kWithGelu;
  numerics.narrow_probabilities = true;
  return {.dtypes = {f16},
          .only_arch = 90,
          .tiles = {tile(Axis::ffn, hopper_whole::kChannels), tile(Axis::hidden, hopper_whole::kChannels)},
          .numerics = numerics,
          .supports =
              [](const ffn_gelu::Args& a) {
                if (a.w1.shape[0] % 8 != 0) return Legality::no("needs a multiple of 8 units");
                const Legality first = hopper_gemm::takes_few({&a.x, &a.w1}, a.y, a.b1.data);
                return first.ok ? hopper_gemm::takes_few({&a.w2}, a.y, a.b2.data) : first;
              },
          .workspace_bytes =
              [](const ffn_gelu::Args& a) { return product::workspace_bytes(a.x.shape[0], a.w1.shape[0], a.x.dtype); }};
}
template <class F>
void run_whole(const ffn_gelu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Tensor h = F::units(a, l.workspace);
  with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
    const hopper_gemm::BiasGelu<kForm> epilogue{{a.b1.data, static_cast<int>(h.shape[1])}};
    hopper_whole::product<half>(a.x, a.w1, h, epilogue, l.stream);
  });
  const hopper_gemm::AddBias epilogue{a.b2.data, static_cast<int>(a.y.shape[1])};
  hopper_whole::product<half, F>(h, a.w2, a.y, epilogue, l.stream, true);
}

}  // namespace assay::ASSAY_FLAVOUR::ffn_gelu_room
