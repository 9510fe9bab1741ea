// SPDX-License-Identifier: Apache-2.0
// Epilogues of a product for Hopper (hopper_gemm.cuh): what is done to its accumulators before they are stored.  And the products
// that several kernels share.
#pragma once

#include "cuda/core/activation.cuh"
#include "cuda/core/hopper_gemm_product.cuh"

namespace assay::ASSAY_FLAVOUR::hopper_gemm {

struct AddBias {
  static constexpr int kCycles = 900;
  const void* bias;  // null: none
  int columns;
  // Note: takes() requires an even number of columns, so both columns of a pair exist or neither does.
  template <class T>
  __device__ Vec<float, 2> of(Place at) const {
    if (bias == nullptr || at.column >= columns) return {{0, 0}};
    const auto b = ld(reinterpret_cast<const Vec<T, 2>*>(static_cast<const T*>(bias) + at.column));
    return {{to_float(b[0]), to_float(b[1])}};
  }
  template <class T>
  __device__ void apply(float (&v)[4], const float* /*second*/, Place at) const {
    if (bias == nullptr) return;
    const auto b = of<T>(at);
#pragma unroll
    for (int e = 0; e < 4; ++e) v[e] += b[e % 2];
  }
};

// kCycles: 128 values a thread, 16 instructions each, two warps on a scheduler, and the tile's store.
template <Activation kForm>
struct BiasGelu {
  static constexpr int kCycles = 4500;
  AddBias bias;
  template <class T>
  __device__ void apply(float (&v)[4], const float* /*second*/, Place at) const {
    const auto b = bias.of<T>(at);
#pragma unroll
    for (int e = 0; e < 4; ++e) v[e] = activate_fast<kForm>(v[e] + b[e % 2]);
  }
};

// silu(gate) up.  kCycles: 64 values a thread, 14 instructions each, two warps on a scheduler, and the tile's store.
struct SwiGlu {
  static constexpr int kCycles = 2500;
  template <class T>
  __device__ void apply(float (&gate)[4], const float* up, Place /*at*/) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) gate[i] = silu_fast(gate[i]) * up[i];
  }
};

// The tile shapes that product_by chooses from.  Note: each is a kernel for each dtype and form, and takes ptxas seconds.
template <class...>
struct Shapes {};
using FewShapes =
    Shapes<Shape<128, 256, false>, LastInPieces<Shape<128, 192, true>>, Shape<128, 128, false>, Shape<64, 96, true>>;

// y = x w^T + bias.
template <class... S>
void linear_product(Shapes<S...>, const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& y, const Launch& l,
                    bool after = false) {
  with_half_type(x.dtype, [&]<class T>(Type<T>) {
    product_by<T, S...>(x, w, nullptr, y, AddBias{bias.data, static_cast<int>(y.shape[1])}, l, after);
  });
}

// y = gelu(x w^T + bias).
template <class... S>
void gelu_product(Shapes<S...>, const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& y, Activation form,
                  const Launch& l) {
  with_half_type(x.dtype, [&]<class T>(Type<T>) {
    with_gelu(form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
      product_by<T, S...>(x, w, nullptr, y, BiasGelu<kForm>{{bias.data, static_cast<int>(y.shape[1])}}, l);
    });
  });
}

// The numerics that a kernel with GELU declares, and one with SiLU.
inline constexpr Numerics kWithGelu = {
    .accumulate = DType::f32, .mma_terms = 16, .quotient_error = kFastQuotientError, .flushes_subnormals = true};
inline constexpr Numerics kWithSilu = {.accumulate = DType::f32,
                                       .mma_terms = 16,
                                       .exponent_error = kFastSiluExponentError,
                                       .quotient_error = kFastQuotientError,
                                       .flushes_subnormals = true};

}  // namespace assay::ASSAY_FLAVOUR::hopper_gemm
