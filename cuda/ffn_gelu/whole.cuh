// SPDX-License-Identifier: Apache-2.0
// Both products of up to 64 tokens by whole sums (cuda/core/hopper_whole.cuh).  Bias and GELU are applied to the sums of the
// first.  The second reads weights before the first has ended.
#pragma once

#include "cuda/core/hopper_whole_product.cuh"
#include "cuda/ffn_gelu/hopper.cuh"

namespace assay::ASSAY_FLAVOUR::ffn_gelu_room {

constexpr KernelTraits<ffn_gelu> whole_sums_traits(DTypes dtypes) {
  return {.dtypes = dtypes,
          .only_arch = 90,
          .tiles = {tile(Axis::ffn, hopper_whole::kChannels), tile(Axis::hidden, hopper_whole::kChannels)},
          .numerics = hopper_numerics(),
          .supports = hopper_takes<hopper_gemm::takes_few>,
          .workspace_bytes = bytes_of_units};
}

template <class T>
void run_whole_sums(const ffn_gelu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Tensor h = units_in(l.workspace, a);
  with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
    const hopper_gemm::BiasGelu<kForm> epilogue{{a.b1.data, static_cast<int>(h.shape[1])}};
    hopper_whole::product<T>(a.x, a.w1, h, epilogue, l.stream, l.after);
  });
  hopper_whole::product<T>(h, a.w2, a.y, hopper_gemm::AddBias{a.b2.data, static_cast<int>(a.y.shape[1])}, l.stream, true);
}

}  // namespace assay::ASSAY_FLAVOUR::ffn_gelu_room
