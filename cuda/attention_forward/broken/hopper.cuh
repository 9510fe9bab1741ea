// SPDX-License-Identifier: Apache-2.0
// The family "hopper" (core/kernel_family.cuh): attention by wgmma and tensor copies, for heads of up to 64 channels, with one of
// HopperSteps replaced.
#pragma once

#include "cuda/attention_forward/hopper_flash.cuh"
#include "cuda/core/kernel_family.cuh"

namespace assay::ASSAY_FLAVOUR::attention_forward_room {

using NarrowHopper = HopperShape<64, 2, Does::softcaps>;

template <class Steps>
constexpr KernelTraits<attention_forward> hopper_traits() {
  return {.dtypes = {f16},
          .only_arch = 90,
          .tiles = {tile(Axis::seq_q, NarrowHopper::kQueries), tile(Axis::seq_k, NarrowHopper::kKeys)},
          .numerics = kHopperNumerics,
          .supports =
              [](const attention_forward::Args& a) {
                if (a.q.shape[3] > NarrowHopper::kDim) return Legality::no("head_dim exceeds 64");
                const Legality rotated = without_rope(a);
                return rotated ? fits_boxes(a) : rotated;
              },
          .workspace_bytes = [](const attention_forward::Args& a) { return order_bytes(a); }};
}
template <class Steps>
void run_hopper(const attention_forward::Args& a, const Launch& l) {
  if (!nothing_to_do(a)) launch_hopper<NarrowHopper, Steps, half>(a, l, l.workspace);
}

}  // namespace assay::ASSAY_FLAVOUR::attention_forward_room
