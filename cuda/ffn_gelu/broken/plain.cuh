// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): what becomes of a sum of the first product of ffn_gelu/plain.cuh.
#pragma once

#include "cuda/core/activation.cuh"
#include "cuda/core/kernel_family.cuh"
#include "cuda/ffn_gelu/plain.cuh"

namespace assay::ASSAY_FLAVOUR::ffn_gelu_room {

// Every step as it should be.
template <class T>
struct Plain {
  Activation form;
  __device__ float activated(float z) const { return form == Activation::gelu_erf ? gelu_erf(z) : gelu_tanh(z); }
  __device__ float unit(float sum, float bias) const { return activated(sum + bias); }
};

template <class S>
struct Unit {
  S steps;
  __device__ float operator()(float sum, float bias) const { return steps.unit(sum, bias); }
};

template <template <class> class S>
constexpr KernelTraits<ffn_gelu> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::hidden, kPlainOut), tile(Axis::ffn, kPlainOut)},
          .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
          .workspace_bytes = plain_workspace};
}

template <template <class> class S>
void run_plain(const ffn_gelu::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, a.w1.shape[0], Unit<S<T>>{{a.form}}); });
}

}  // namespace assay::ASSAY_FLAVOUR::ffn_gelu_room
