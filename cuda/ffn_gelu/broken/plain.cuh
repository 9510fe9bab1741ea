// SPDX-License-Identifier: Apache-2.0
// A plain kernel for those that differ around it: what becomes of a sum of the first product of ffn_gelu/plain.cuh.
#pragma once

#include "cuda/core/activation.cuh"
#include "cuda/core/kernel_family.cuh"
#include "cuda/ffn_gelu/plain.cuh"

namespace assay::ASSAY_FLAVOUR::ffn_gelu_room {

struct Unit {
  Activation form;
  __device__ float operator()(float sum, float bias) const {
    return form == Activation::gelu_erf ? gelu_erf(sum + bias) : gelu_tanh(sum + bias);
  }
};

inline constexpr KernelTraits<ffn_gelu> plain_traits() {
  return {.dtypes = kEveryType,
          .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::hidden, kPlainOut), tile(Axis::ffn, kPlainOut)},
          .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
          .workspace_bytes = plain_workspace};
}

inline void run_plain(const ffn_gelu::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, a.w1.shape[0], Unit{a.form}); });
}

}  // namespace assay::ASSAY_FLAVOUR::ffn_gelu_room
