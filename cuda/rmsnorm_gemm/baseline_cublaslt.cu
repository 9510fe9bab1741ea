// SPDX-License-Identifier: Apache-2.0
// The pipeline of `unfused` with cuBLASLt's product: x r gamma by our kernel, rounded to the dtype, into workspace, then
// cuBLASLt's product with the weight.
#include "cuda/core/vendor/cublaslt.hpp"
#include "cuda/core/vendor/workspace.hpp"
#include "cuda/rmsnorm_gemm/norm.cuh"

namespace assay::ROOM(rmsnorm_gemm, baseline_cublaslt) {

// Workspace: x r gamma, then cuBLASLt's.
struct Plan {
  Tensor normalised;
  vendor::cublaslt::Matmul product;
  vendor::Workspace workspace;
};
Plan plan(const rmsnorm_gemm::Args& a, void* workspace) {
  vendor::Workspace w(workspace);
  const Tensor normalised = w.matrix(a.x.dtype, a.x.shape[0], a.x.shape[1]);
  return {normalised, {.x = normalised, .w = a.weight, .y = a.y}, w};
}

Legality supports(const rmsnorm_gemm::Args& a) {
  if (!a.x.rows_contiguous() || !a.gamma.rows_contiguous()) return Legality::no("rows must be contiguous");
  return vendor::cublaslt::supports(plan(a, nullptr).product);
}
std::size_t workspace_bytes(const rmsnorm_gemm::Args& a) {
  const Plan p = plan(a, nullptr);
  return p.workspace.used() + vendor::cublaslt::workspace_bytes(p.product);
}

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::out, 128)},
    .numerics = {.accumulate = f32, .chain = kRowChain, .mma_terms = 8, .stores = "n"},
    .available = vendor::cublaslt::available,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Plan p = plan(a, l.workspace);
  run_norm(a, p.normalised, l.stream);
  vendor::cublaslt::run(p.product, {.stream = l.stream, .workspace = p.workspace.rest()});
}

}  // namespace assay::ROOM(rmsnorm_gemm, baseline_cublaslt)
