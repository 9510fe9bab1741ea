// SPDX-License-Identifier: Apache-2.0
// cuBLASLt, the fastest of the algorithms that its heuristics propose: one call, bias and GELU in its epilogue.
#include "cuda/core/kernel.cuh"
#include "cuda/core/vendor/cublaslt.hpp"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, baseline_cublaslt) {

vendor::cublaslt::Matmul matmul(const gelu_linear::Args& a) {
  return {.x = a.x, .w = a.weight, .bias = a.bias, .y = a.y, .activation = vendor::cublaslt::Activation::gelu_tanh};
}
Legality supports(const gelu_linear::Args& a) {
  if (a.form != Activation::gelu_tanh) return Legality::no("cuBLASLt's GELU is the tanh form");
  return vendor::cublaslt::supports(matmul(a));
}
std::size_t workspace_bytes(const gelu_linear::Args& a) { return vendor::cublaslt::workspace_bytes(matmul(a)); }

// Note: some of cuBLASLt's algorithms round the product before the bias is added (cuda/linear/baseline_cublaslt.cu).
KERNEL(gelu_linear){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::out, 128)},
    .numerics = {.accumulate = f32,
                 .mma_terms = 8,
                 .stores = "z",
                 .cancelling_gelu = true,
                 .function_error = vendor::cublaslt::kGeluError},
    .available = vendor::cublaslt::available,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

void run(const gelu_linear::Args& a, const Launch& l) { vendor::cublaslt::run(matmul(a), l); }

}  // namespace assay::ROOM(gelu_linear, baseline_cublaslt)
