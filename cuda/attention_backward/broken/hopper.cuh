// SPDX-License-Identifier: Apache-2.0
// The family "hopper" (core/kernel_family.cuh): gradients by wgmma and tensor copies, for heads of up to 64 channels, with one of
// HopperSteps replaced.
#pragma once

#include "cuda/attention_backward/hopper_passes.cuh"
#include "cuda/core/kernel_family.cuh"

namespace assay::ASSAY_FLAVOUR::attention_backward_room {

template <class Steps>
constexpr KernelTraits<attention_backward> hopper_traits() {
  return {.dtypes = {f16},
          .only_arch = 90,
          .tiles = {tile(Axis::seq_q, kOwn), tile(Axis::seq_k, kOwn)},
          .numerics = kHopperNumerics,
          .supports =
              [](const attention_backward::Args& a) {
                return a.q.shape[3] > 64 ? Legality::no("head_dim exceeds 64") : fits_boxes(a);
              },
          .workspace_bytes = bytes_of_statistics};
}
template <class Steps>
void run_hopper(const attention_backward::Args& a, const Launch& l) {
  run_passes<64, Steps, half>(a, l);
}

}  // namespace assay::ASSAY_FLAVOUR::attention_backward_room
