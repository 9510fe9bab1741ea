// SPDX-License-Identifier: Apache-2.0
// The one pass of hopper_fused_pass.cuh whose blocks add dQ in turn: traits, and run for heads of up to 64 and of 128 channels.
#pragma once

#include "cuda/attention_backward/hopper_fused_pass.cuh"

namespace assay::ASSAY_FLAVOUR::attention_backward_room {

inline constexpr KernelTraits<attention_backward> kOrderedTraits{
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::seq_q, kLoopQueries), tile(Axis::seq_k, kOwn)},
    .numerics = kFusedNumerics,
    .supports = fits_boxes,
    .workspace_bytes =
        [](const attention_backward::Args& a) { return a.q.shape[3] > 64 ? bytes_with_turns<128>(a) : bytes_with_turns<64>(a); },
};

template <class Steps>
void run_in_turn(const attention_backward::Args& a, const Launch& l) {
  with_half_type(a.q.dtype, [&]<class T>(Type<T>) {
    a.q.shape[3] > 64 ? run_one_pass<128, Steps, T>(a, l) : run_one_pass<64, Steps, T>(a, l);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::attention_backward_room
