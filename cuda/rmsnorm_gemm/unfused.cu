// SPDX-License-Identifier: Apache-2.0
// Two kernels, as a framework runs them: x r gamma, rounded to the dtype, into workspace, by one block per row, then its product
// with the weight.  The baseline for the fused norm.
#include "cuda/core/product.cuh"
#include "cuda/rmsnorm_gemm/norm.cuh"

namespace assay::ROOM(rmsnorm_gemm, unfused) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, product::kM), tile(Axis::out, product::kN), tile(Axis::hidden, product::kK)},
    .numerics = {.accumulate = f32, .chain = kRowChain, .mma_terms = 8, .stores = "n"},
    .workspace_bytes = normalised_bytes,
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Tensor rows = normalised(a, l);
  product::run(rows, a.weight, {}, a.y, l.stream);
}

}  // namespace assay::ROOM(rmsnorm_gemm, unfused)
