// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): what becomes of the sums of the two products of ffn_gelu/plain.cuh.
#pragma once

#include "cuda/core/activation.cuh"
#include "cuda/core/kernel_family.cuh"
#include "cuda/ffn_gelu/plain.cuh"

namespace assay::ASSAY_FLAVOUR::ffn_gelu_room {

// Every step as it should be.
template <class T>
struct Plain {
  Activation form;
  static std::int64_t units(std::int64_t ffn) { return ffn; }  // of h that the second product takes

  __device__ float activated(float z) const { return form == Activation::gelu_erf ? gelu_erf(z) : gelu_tanh(z); }
  __device__ float unit(float sum, float bias) const { return activated(sum + bias); }
  __device__ float output(float sum, float bias) const { return sum + bias; }
};

template <class S>
struct Unit {
  S steps;
  __device__ float operator()(float sum, float bias) const { return steps.unit(sum, bias); }
};
template <class S>
struct Output {
  S steps;
  __device__ float operator()(float sum, float bias) const { return steps.output(sum, bias); }
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
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const S<T> steps{{a.form}};
    run_plain<T>(a, l, S<T>::units(a.w1.shape[0]), Unit<S<T>>{steps}, Output<S<T>>{steps});
  });
}

}  // namespace assay::ASSAY_FLAVOUR::ffn_gelu_room
