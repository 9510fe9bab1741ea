// SPDX-License-Identifier: Apache-2.0
// Hopper's own instructions (cuda/core/hopper_gemm.cuh), bias and GELU taken on the accumulators: z never leaves the registers and
// is never rounded.  While one warpgroup takes them, the other multiplies the next tile.
#include "cuda/core/activation.cuh"
#include "cuda/core/hopper_gemm.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, sm90_wgmma) {

KERNEL(gelu_linear){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::out, 256), tile(Axis::hidden, 64)},
    .numerics = {.accumulate = f32, .mma_terms = 16},
    .supports = [](const gelu_linear::Args& a) { return hopper_gemm::takes({&a.x, &a.weight}, a.y); },
};

template <Activation kForm>
struct BiasGelu {
  static constexpr int kTileCycles = 8000;
  const void* bias;
  int columns;
  template <class T>
  __device__ void apply(float (&v)[8], const float* /*second*/, hopper_gemm::Place at) const {
    hopper_gemm::add_bias<T>(v, bias, at, columns);
#pragma unroll
    for (float& z : v) z = activate<kForm>(z);
  }
};

void run(const gelu_linear::Args& a, const Launch& l) {
  using namespace hopper_gemm;
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
      // Note: tiles of 192 columns would leave erfc too few registers.
      product_by<T, Shape<128, 256, false>, Shape<128, 176, true>, Shape<128, 168, true>, Shape<128, 128, true>,
                 Shape<128, 112, true>, Shape<64, 128, true>, Shape<64, 64, true>>(
          a.x, a.weight, nullptr, a.y, BiasGelu<kForm>{a.bias.data, static_cast<int>(a.y.shape[1])}, l);
    });
  });
}

}  // namespace assay::ROOM(gelu_linear, sm90_wgmma)
