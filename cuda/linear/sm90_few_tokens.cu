// SPDX-License-Identifier: Apache-2.0
// Up to 64 tokens by wgmma and tensor copies (cuda/core/hopper_few.cuh): tiles of 64 features, whose channels are split if the
// tiles do not fill the device.  A token has the same bits whatever others are with it.
#include "cuda/core/hopper_few_product.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, sm90_few_tokens) {

KERNEL(linear){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::out, hopper_few::kFeatures), tile(Axis::hidden, hopper_few::kDeep)},
    .numerics = {.accumulate = f32, .mma_terms = 16},
    .supports =
        [](const linear::Args& a) {
          return hopper_gemm::takes_few({&a.x, &a.weight}, a.y, a.bias.data);
        },
    .workspace_bytes =
        [](const linear::Args& a) { return hopper_few::workspace_bytes(a.x.shape[0], a.y.shape[1], a.x.shape[1], 1); },
};

void run(const linear::Args& a, const Launch& l) {
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    hopper_few::product<T, 1>(a.x, a.weight, nullptr, a.y, hopper_few::AddBias{a.bias.data, static_cast<int>(a.y.shape[1])},
                              l.workspace, l.stream, l.after);
  });
}

}  // namespace assay::ROOM(linear, sm90_few_tokens)
