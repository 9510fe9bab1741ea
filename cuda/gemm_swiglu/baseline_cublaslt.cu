// SPDX-License-Identifier: Apache-2.0
// The pipeline of `unfused` with cuBLASLt's products: gate and up by a call each, rounded to the dtype, into workspace, then
// y = silu(gate) * up by a kernel of ours; the library has no epilogue for it.
#include "cuda/core/vendor/cublaslt.hpp"
#include "cuda/core/vendor/workspace.hpp"
#include "cuda/gemm_swiglu/silu_times.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ROOM(gemm_swiglu, baseline_cublaslt) {

// Workspace: gate, up, then the library's own.
struct Plan {
  Tensor gate, up;
  vendor::cublaslt::Matmul gate_product, up_product;
  vendor::Workspace workspace;
};
Plan plan(const gemm_swiglu::Args& a, void* workspace) {
  vendor::Workspace w(workspace);
  const Tensor gate = w.matrix(a.y.dtype, a.y.shape[0], a.y.shape[1]), up = w.matrix(a.y.dtype, a.y.shape[0], a.y.shape[1]);
  return {gate, up, {.x = a.x, .w = a.w_gate, .y = gate}, {.x = a.x, .w = a.w_up, .y = up}, w};
}

Legality supports(const gemm_swiglu::Args& a) {
  if (!a.y.rows_contiguous()) return Legality::no("rows must be contiguous");
  const Plan p = plan(a, nullptr);
  const Legality gate = vendor::cublaslt::supports(p.gate_product);
  return gate ? vendor::cublaslt::supports(p.up_product) : gate;
}
std::size_t workspace_bytes(const gemm_swiglu::Args& a) {
  const Plan p = plan(a, nullptr);
  return p.workspace.used() + std::max(vendor::cublaslt::workspace_bytes(p.gate_product),
                                       vendor::cublaslt::workspace_bytes(p.up_product));
}

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16},
    .least_arch = 80,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::ffn, 128)},
    .numerics = {.accumulate = f32, .stores_intermediate = true, .mma_terms = 8},
    .available = vendor::cublaslt::available,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

void run(const gemm_swiglu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Plan p = plan(a, l.workspace);
  const Launch library{.stream = l.stream, .workspace = p.workspace.rest()};
  vendor::cublaslt::run(p.gate_product, library);
  vendor::cublaslt::run(p.up_product, library);
  silu_times(p.gate, p.up, a.y, l.stream);
}

}  // namespace assay::ROOM(gemm_swiglu, baseline_cublaslt)
