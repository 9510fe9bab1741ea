// SPDX-License-Identifier: Apache-2.0
// The family "whole" (core/kernel_family.cuh): sm90_whole_sums with one of its steps replaced.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/ffn_gelu/whole.cuh"

namespace assay::ASSAY_FLAVOUR::ffn_gelu_room {

template <class Steps>
constexpr KernelTraits<ffn_gelu> whole_traits() {
  return whole_sums_traits({f16});
}
template <class Steps>
void run_whole(const ffn_gelu::Args& a, const Launch& l) {
  run_whole_sums<half, Steps>(a, l);
}

}  // namespace assay::ASSAY_FLAVOUR::ffn_gelu_room
