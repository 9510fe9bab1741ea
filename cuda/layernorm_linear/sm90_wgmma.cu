// SPDX-License-Identifier: Apache-2.0
// The LayerNorm of x, rounded to the dtype, into workspace, by one block per row, as layernorm/block_row; then its product
// with the weight by wgmma and tensor copies (cuda/core/hopper_gemm.cuh).
#include "cuda/core/hopper_epilogue.cuh"
#include "cuda/core/product.cuh"
#include "cuda/layernorm_linear/norm.cuh"

namespace assay::ROOM(layernorm_linear, sm90_wgmma) {

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::out, 256), tile(Axis::hidden, 64)},
    .numerics = {.accumulate = f32, .chain = kBlockChain, .mma_terms = 16, .stores = "n"},
    .supports = [](const layernorm_linear::Args& a) { return hopper_gemm::takes({&a.weight}, a.y, a.bias.data); },
    .workspace_bytes =
        [](const layernorm_linear::Args& a) { return product::workspace_bytes(a.x.shape[0], a.x.shape[1], a.x.dtype); },
};

void run(const layernorm_linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Tensor n = product::in_workspace(l.workspace, a.x.dtype, a.x.shape[0], a.x.shape[1]);
  run_norm(a, n, l.stream);
  hopper_gemm::linear_product(hopper_gemm::FewShapes{}, n, a.weight, a.bias, a.y, l, true);
}

}  // namespace assay::ROOM(layernorm_linear, sm90_wgmma)
