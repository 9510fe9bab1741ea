// SPDX-License-Identifier: Apache-2.0
// x r gamma, rounded to the dtype, into workspace, by one block per row; then its product with the weight by wgmma and
// tensor copies (cuda/core/hopper_gemm.cuh).
#include "cuda/core/hopper_epilogue.cuh"
#include "cuda/rmsnorm_gemm/norm.cuh"

namespace assay::ROOM(rmsnorm_gemm, sm90_wgmma) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::out, 256), tile(Axis::hidden, 64)},
    .numerics = {.accumulate = f32, .chain = kRowChain, .mma_terms = 16, .stores = "n"},
    .supports = [](const rmsnorm_gemm::Args& a) { return hopper_gemm::takes({&a.weight}, a.y); },
    .workspace_bytes = normalised_bytes,
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Tensor rows = normalised(a, l);
  hopper_gemm::linear_product(hopper_gemm::FewShapes{}, rows, a.weight, {}, a.y, l, true);
}

}  // namespace assay::ROOM(rmsnorm_gemm, sm90_wgmma)
