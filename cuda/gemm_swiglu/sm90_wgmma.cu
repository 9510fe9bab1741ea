// SPDX-License-Identifier: Apache-2.0
// Two products by wgmma and tensor copies (cuda/core/hopper_gemm.cuh): half of a tile's rows of B are of w_gate, half of w_up, so
// that a thread holds a feature's gate and up.  x is read once for both, and neither product leaves the registers.
#include "cuda/core/hopper_epilogue.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ROOM(gemm_swiglu, sm90_wgmma) {

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::ffn, 128), tile(Axis::hidden, 64)},
    .numerics = hopper_gemm::kWithSilu,
    .supports =
        [](const gemm_swiglu::Args& a) {
          return hopper_gemm::takes({&a.x, &a.w_gate, &a.w_up}, a.y);
        },
};

void run(const gemm_swiglu::Args& a, const Launch& l) {
  using namespace hopper_gemm;
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    product_by<T, Shape<128, 192, true, 2>, Shape<128, 176, true, 2>, Shape<64, 192, true, 2>, Shape<64, 128, true, 2>>(
        a.x, a.w_gate, &a.w_up, a.y, SwiGlu{}, l);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, sm90_wgmma)
