// SPDX-License-Identifier: Apache-2.0
// wgmma and tensor copies (cuda/core/hopper_gemm.cuh): boxes copied into a ring, wgmma by two warpgroups, the bias added to the
// accumulators, y stored by boxes.  The shape of tile with the least estimated time is chosen.
#include "cuda/core/hopper_epilogue.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, sm90_wgmma) {

KERNEL(linear){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::out, 256), tile(Axis::hidden, 64)},
    .numerics = {.accumulate = f32, .mma_terms = 16},
    .supports =
        [](const linear::Args& a) {
          return hopper_gemm::takes({&a.x, &a.weight}, a.y, a.bias.data);
        },
};

void run(const linear::Args& a, const Launch& l) {
  using namespace hopper_gemm;
  linear_product(
      Shapes<Shape<256, 168, false>, Shape<128, 256, false>, LastInPieces<Shape<128, 192, true>>, Shape<128, 168, true>,
             Shape<128, 128, false>, Shape<64, 192, true>, Shape<64, 128, true>, Shape<64, 96, true>, Shape<64, 64, true>>{},
      a.x, a.weight, a.bias, a.y, l);
}

}  // namespace assay::ROOM(linear, sm90_wgmma)
