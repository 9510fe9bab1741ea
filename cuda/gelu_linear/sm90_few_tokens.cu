// SPDX-License-Identifier: Apache-2.0
// Up to 64 tokens by wgmma and tensor copies (cuda/core/hopper_few.cuh): tiles of 64 features, whose channels are split if the
// tiles do not fill the device.  Bias and GELU are applied to the sum before it is rounded.
#include "cuda/core/hopper_epilogue.cuh"
#include "cuda/core/hopper_few_product.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, sm90_few_tokens) {

KERNEL(gelu_linear){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::out, hopper_few::kFeatures), tile(Axis::hidden, hopper_few::kDeep)},
    .numerics = hopper_gemm::kWithGelu,
    .supports =
        [](const gelu_linear::Args& a) {
          return hopper_gemm::takes_few({&a.x, &a.weight}, a.y, a.bias.data);
        },
    .workspace_bytes =
        [](const gelu_linear::Args& a) { return hopper_few::workspace_bytes(a.x.shape[0], a.y.shape[1], a.x.shape[1], 1); },
};

void run(const gelu_linear::Args& a, const Launch& l) {
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
      const hopper_few::BiasGelu<kForm> epilogue{{a.bias.data, static_cast<int>(a.y.shape[1])}};
      hopper_few::product<T, 1>(a.x, a.weight, nullptr, a.y, epilogue, l.workspace, l.stream, l.after);
    });
  });
}

}  // namespace assay::ROOM(gelu_linear, sm90_few_tokens)
