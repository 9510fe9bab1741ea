// SPDX-License-Identifier: Apache-2.0
// Two kernels, as a framework runs them: the LayerNorm of x, rounded to the dtype, into workspace, by one block per row
// (layernorm/block_row's), then its product with the weight.  The baseline for the fused norm.
#include "cuda/core/product.cuh"
#include "cuda/layernorm_linear/norm.cuh"

namespace assay::ROOM(layernorm_linear, unfused) {

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, product::kM), tile(Axis::out, product::kN), tile(Axis::hidden, product::kK)},
    .numerics = {.accumulate = f32, .chain = kBlockChain, .mma_terms = 8, .stores = "n"},
    .workspace_bytes =
        [](const layernorm_linear::Args& a) { return product::workspace_bytes(a.x.shape[0], a.x.shape[1], a.x.dtype); },
};

void run(const layernorm_linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Tensor n = product::in_workspace(l.workspace, a.x.dtype, a.x.shape[0], a.x.shape[1]);
  run_norm(a, n, l.stream);
  product::run(n, a.weight, a.bias, a.y, l.stream);
}

}  // namespace assay::ROOM(layernorm_linear, unfused)
