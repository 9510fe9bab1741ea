// SPDX-License-Identifier: Apache-2.0
// Up to 64 tokens by wgmma and tensor copies (cuda/core/hopper_whole.cuh), in tiles of few features.  A token has the same bits
// whatever others are with it.
#include "cuda/core/hopper_whole_product.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, sm90_whole_sums) {

KERNEL(linear){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::out, hopper_whole::kFeatures), tile(Axis::hidden, hopper_whole::kChannels)},
    .numerics = {.accumulate = f32, .mma_terms = 16},
    .supports =
        [](const linear::Args& a) {
          return hopper_gemm::takes_few({&a.x, &a.weight}, a.y, a.bias.data);
        },
};

void run(const linear::Args& a, const Launch& l) {
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    hopper_whole::product<T>(a.x, a.weight, a.y, hopper_gemm::AddBias{a.bias.data, static_cast<int>(a.y.shape[1])}, l.stream,
                             l.after);
  });
}

}  // namespace assay::ROOM(linear, sm90_whole_sums)
