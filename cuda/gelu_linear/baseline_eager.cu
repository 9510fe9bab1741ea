// SPDX-License-Identifier: Apache-2.0
// The pipeline of `unfused` with cuBLASLt's product, as an eager framework runs it: z = x W^T + b by one call, the bias in its
// epilogue, rounded to the dtype, into workspace; then y = gelu(z) by our kernel.
#include "cuda/core/gelu_step.cuh"
#include "cuda/core/vendor/cublaslt.hpp"
#include "cuda/core/vendor/workspace.hpp"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, baseline_eager) {

// Workspace: z, then cuBLASLt's.
struct Plan {
  Tensor z;
  vendor::cublaslt::Matmul product;
  vendor::Workspace workspace;
};
Plan plan(const gelu_linear::Args& a, void* workspace) {
  vendor::Workspace w(workspace);
  const Tensor z = w.matrix(a.y.dtype, a.y.shape[0], a.y.shape[1]);
  return {z, {.x = a.x, .w = a.weight, .bias = a.bias, .y = z}, w};
}

Legality supports(const gelu_linear::Args& a) {
  if (!a.y.rows_contiguous()) return Legality::no("rows must be contiguous");
  return vendor::cublaslt::supports(plan(a, nullptr).product);
}
std::size_t workspace_bytes(const gelu_linear::Args& a) {
  const Plan p = plan(a, nullptr);
  return p.workspace.used() + vendor::cublaslt::workspace_bytes(p.product);
}

// Note: some cuBLASLt algorithms round the product before the bias is added (cuda/linear/baseline_cublaslt.cu).
KERNEL(gelu_linear){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::out, 128)},
    .numerics = {.accumulate = f32, .mma_terms = 8, .stores = "before_bias,z"},
    .available = vendor::cublaslt::available,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

void run(const gelu_linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Plan p = plan(a, l.workspace);
  vendor::cublaslt::run(p.product, {.stream = l.stream, .workspace = p.workspace.rest()});
  gelu_step(p.z, a.y, a.form, l.stream);
}

}  // namespace assay::ROOM(gelu_linear, baseline_eager)
