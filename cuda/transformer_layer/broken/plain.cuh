// SPDX-License-Identifier: Apache-2.0
// The steps of a layer are the virtual functions of Layer: a broken kernel overrides one (core/kernel_family.cuh).
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ASSAY_FLAVOUR::transformer_layer_room {

template <class L>
constexpr KernelTraits<transformer_layer> plain_traits() {
  return traits_of<L>();
}
template <class L>
void run_plain(const transformer_layer::Args& a, const Launch& l) {
  run_layer<L>(a, l);
}

}  // namespace assay::ASSAY_FLAVOUR::transformer_layer_room
