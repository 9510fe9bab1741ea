// SPDX-License-Identifier: Apache-2.0
// Up to 64 tokens by wgmma and tensor copies (cuda/core/hopper_whole.cuh), in tiles of few features.  Bias and GELU are applied
// to the sum before it is rounded.
#include "cuda/core/hopper_whole_product.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, sm90_whole_sums) {

KERNEL(gelu_linear){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::out, hopper_whole::kFeatures), tile(Axis::hidden, hopper_whole::kChannels)},
    .numerics = hopper_gemm::kWithGelu,
    .supports =
        [](const gelu_linear::Args& a) {
          return hopper_gemm::takes_few({&a.x, &a.weight}, a.y, a.bias.data);
        },
};

void run(const gelu_linear::Args& a, const Launch& l) {
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
      const hopper_gemm::BiasGelu<kForm> epilogue{{a.bias.data, static_cast<int>(a.y.shape[1])}};
      hopper_whole::product<T>(a.x, a.weight, a.y, epilogue, l.stream, l.after);
    });
  });
}

}  // namespace assay::ROOM(gelu_linear, sm90_whole_sums)
