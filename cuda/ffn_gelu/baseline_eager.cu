// SPDX-License-Identifier: Apache-2.0
// The pipeline of `unfused` with cuBLASLt's products, as an eager framework runs it: z = x W1^T + b1 by one call, h = gelu(z) by
// our kernel, y = h W2^T + b2 by another call; biases in epilogues, z and h rounded to the dtype, in workspace.
#include "cuda/core/gelu_step.cuh"
#include "cuda/core/vendor/cublaslt.hpp"
#include "cuda/core/vendor/workspace.hpp"
#include "ops/ffn_gelu.hpp"

namespace assay::ROOM(ffn_gelu, baseline_eager) {

// Workspace: z, h, then cuBLASLt's.
struct Plan {
  Tensor z, h;
  vendor::cublaslt::Matmul widen, narrow;
  vendor::Workspace workspace;
};
Plan plan(const ffn_gelu::Args& a, void* workspace) {
  vendor::Workspace w(workspace);
  const std::int64_t tokens = a.x.shape[0], ffn = a.w1.shape[0];
  const Tensor z = w.matrix(a.x.dtype, tokens, ffn), h = w.matrix(a.x.dtype, tokens, ffn);
  return {z, h, {.x = a.x, .w = a.w1, .bias = a.b1, .y = z}, {.x = h, .w = a.w2, .bias = a.b2, .y = a.y}, w};
}

Legality supports(const ffn_gelu::Args& a) {
  const Plan p = plan(a, nullptr);
  return vendor::cublaslt::supports(p.widen, p.narrow);
}
std::size_t workspace_bytes(const ffn_gelu::Args& a) {
  const Plan p = plan(a, nullptr);
  return p.workspace.used() + vendor::cublaslt::workspace_bytes(p.widen, p.narrow);
}

// Note: bf16 is left out: three roundings to 8 bits make the bound of a narrow block too wide to reject an output of zeros.
// Some cuBLASLt algorithms round the product before the bias is added (cuda/linear/baseline_cublaslt.cu).
KERNEL(ffn_gelu){
    .dtypes = {f16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::hidden, 128), tile(Axis::ffn, 128)},
    .numerics = {.accumulate = f32, .mma_terms = 8, .stores = "before_b1,z,h,before_b2"},
    .available = vendor::cublaslt::available,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

void run(const ffn_gelu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Plan p = plan(a, l.workspace);
  const Launch library{.stream = l.stream, .workspace = p.workspace.rest()};
  vendor::cublaslt::run(p.widen, library);
  gelu_step(p.z, p.h, a.form, l.stream);
  vendor::cublaslt::run(p.narrow, library);
}

}  // namespace assay::ROOM(ffn_gelu, baseline_eager)
