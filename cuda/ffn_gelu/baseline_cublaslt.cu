// SPDX-License-Identifier: Apache-2.0
// Two calls of cuBLASLt, each the fastest of the algorithms that its heuristics propose: bias and GELU in the epilogue of the
// first, bias in that of the second.  h is rounded to the dtype, in workspace.
#include "cuda/core/kernel.cuh"
#include "cuda/core/vendor/cublaslt.hpp"
#include "cuda/core/vendor/workspace.hpp"
#include "ops/ffn_gelu.hpp"

namespace assay::ROOM(ffn_gelu, baseline_cublaslt) {

// Workspace: h, then cuBLASLt's.
struct Plan {
  vendor::cublaslt::Matmul widen, narrow;
  vendor::Workspace workspace;
};
Plan plan(const ffn_gelu::Args& a, void* workspace) {
  vendor::Workspace w(workspace);
  const Tensor h = w.matrix(a.x.dtype, a.x.shape[0], a.w1.shape[0]);
  return {{.x = a.x, .w = a.w1, .bias = a.b1, .y = h, .activation = vendor::cublaslt::Activation::gelu_tanh},
          {.x = h, .w = a.w2, .bias = a.b2, .y = a.y},
          w};
}

Legality supports(const ffn_gelu::Args& a) {
  if (a.form != Activation::gelu_tanh) return Legality::no("cuBLASLt's GELU is the tanh form");
  const Plan p = plan(a, nullptr);
  return vendor::cublaslt::supports(p.widen, p.narrow);
}
std::size_t workspace_bytes(const ffn_gelu::Args& a) {
  const Plan p = plan(a, nullptr);
  return p.workspace.used() + vendor::cublaslt::workspace_bytes(p.widen, p.narrow);
}

// Note: bf16 is left out as in baseline_eager.  Some algorithms round the product before the bias is added
// (cuda/linear/baseline_cublaslt.cu).
KERNEL(ffn_gelu){
    .dtypes = {f16},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::hidden, 128), tile(Axis::ffn, 128)},
    .numerics = {.accumulate = f32,
                 .mma_terms = 8,
                 .stores = "before_b1,z,h,before_b2",
                 .cancelling_gelu = true,
                 .function_error = vendor::cublaslt::kGeluError},
    .available = vendor::cublaslt::available,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

void run(const ffn_gelu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Plan p = plan(a, l.workspace);
  const Launch library{.stream = l.stream, .workspace = p.workspace.rest()};
  vendor::cublaslt::run(p.widen, library);
  vendor::cublaslt::run(p.narrow, library);
}

}  // namespace assay::ROOM(ffn_gelu, baseline_cublaslt)
