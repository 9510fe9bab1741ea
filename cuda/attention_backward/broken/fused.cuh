// SPDX-License-Identifier: Apache-2.0
// The family "fused" (core/kernel_family.cuh): gradients in one pass by wgmma, for heads of up to 64 channels, with one of
// FusedSteps replaced.
#pragma once

#include "cuda/attention_backward/broken/hopper.cuh"
#include "cuda/attention_backward/hopper_fused_pass.cuh"

namespace assay::ASSAY_FLAVOUR::attention_backward_room {

template <class Steps>
constexpr KernelTraits<attention_backward> fused_traits() {
  KernelTraits<attention_backward> traits = hopper_traits<Steps>();
  traits.deterministic = false;
  traits.tiles = {tile(Axis::seq_q, kLoopQueries), tile(Axis::seq_k, kOwn)};
  traits.numerics = kFusedNumerics;
  traits.workspace_bytes = bytes_with_fused_sums<64>;
  return traits;
}
template <class Steps>
void run_fused(const attention_backward::Args& a, const Launch& l) {
  run_one_pass<64, Steps, half>(a, l);
}

}  // namespace assay::ASSAY_FLAVOUR::attention_backward_room
