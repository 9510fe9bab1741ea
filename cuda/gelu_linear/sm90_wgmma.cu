// SPDX-License-Identifier: Apache-2.0
// A product by wgmma and tensor copies (cuda/core/hopper_gemm.cuh).  Bias and GELU are applied to the accumulators: z never
// leaves the registers and is never rounded.  In most shapes one warpgroup does this while the other multiplies the next tile.
#include "cuda/core/hopper_epilogue.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, sm90_wgmma) {

KERNEL(gelu_linear){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::out, 256), tile(Axis::hidden, 64)},
    .numerics = hopper_gemm::kWithGelu,
    .supports =
        [](const gelu_linear::Args& a) {
          return hopper_gemm::takes({&a.x, &a.weight}, a.y, a.bias.data);
        },
};

void run(const gelu_linear::Args& a, const Launch& l) {
  using namespace hopper_gemm;
  gelu_product(Shapes<LastInPieces<Shape<128, 192, true>>, Shape<128, 168, true>, Shape<128, 168, false>, Shape<128, 128, true>,
                      Shape<64, 128, true>, Shape<64, 96, true>>{},
               a.x, a.weight, a.bias, a.y, a.form, l);
}

}  // namespace assay::ROOM(gelu_linear, sm90_wgmma)
