// SPDX-License-Identifier: Apache-2.0
// Up to 64 tokens by wgmma and tensor copies (cuda/core/hopper_few.cuh): tiles of 64 features of w_gate and of w_up, whose
// channels are split if the tiles do not fill the device.  A thread holds a feature's gate and up.
#include "cuda/core/hopper_epilogue.cuh"
#include "cuda/core/hopper_few_product.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ROOM(gemm_swiglu, sm90_few_tokens) {

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::ffn, hopper_few::kFeatures), tile(Axis::hidden, hopper_few::kDeep)},
    .numerics = hopper_gemm::kWithSilu,
    .supports =
        [](const gemm_swiglu::Args& a) {
          return hopper_gemm::takes_few({&a.x, &a.w_gate, &a.w_up}, a.y);
        },
    .workspace_bytes =
        [](const gemm_swiglu::Args& a) { return hopper_few::workspace_bytes(a.x.shape[0], a.y.shape[1], a.x.shape[1], 2); },
};

void run(const gemm_swiglu::Args& a, const Launch& l) {
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    hopper_few::product<T, 2>(a.x, a.w_gate, &a.w_up, a.y, hopper_few::SwiGlu{}, l.workspace, l.stream, l.after);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, sm90_few_tokens)
