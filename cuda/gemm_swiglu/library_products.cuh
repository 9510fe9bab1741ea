// SPDX-License-Identifier: Apache-2.0
// The product step, shared by the cuBLASLt pipelines: one call each for gate and up, rounded to the dtype, into workspace.
#pragma once

#include "cuda/core/kernel.cuh"
#include "cuda/core/vendor/cublaslt.hpp"
#include "cuda/core/vendor/workspace.hpp"
#include "ops/gemm_swiglu.hpp"

namespace assay::ASSAY_FLAVOUR::gemm_swiglu_room {

// Workspace: gate, up, then cuBLASLt's.
struct Plan {
  Tensor gate, up;
  vendor::cublaslt::Matmul gate_product, up_product;
  vendor::Workspace workspace;
};
inline Plan plan(const gemm_swiglu::Args& a, void* workspace) {
  vendor::Workspace w(workspace);
  const Tensor gate = w.matrix(a.y.dtype, a.y.shape[0], a.y.shape[1]), up = w.matrix(a.y.dtype, a.y.shape[0], a.y.shape[1]);
  return {gate, up, {.x = a.x, .w = a.w_gate, .y = gate}, {.x = a.x, .w = a.w_up, .y = up}, w};
}

inline Legality supports(const gemm_swiglu::Args& a) {
  if (!a.y.rows_contiguous()) return Legality::no("rows must be contiguous");
  const Plan p = plan(a, nullptr);
  return vendor::cublaslt::supports(p.gate_product, p.up_product);
}
inline std::size_t workspace_bytes(const gemm_swiglu::Args& a) {
  const Plan p = plan(a, nullptr);
  return p.workspace.used() + vendor::cublaslt::workspace_bytes(p.gate_product, p.up_product);
}

inline Plan run_products(const gemm_swiglu::Args& a, const Launch& l) {
  const Plan p = plan(a, l.workspace);
  const Launch library{.stream = l.stream, .workspace = p.workspace.rest()};
  vendor::cublaslt::run(p.gate_product, library);
  vendor::cublaslt::run(p.up_product, library);
  return p;
}

}  // namespace assay::ASSAY_FLAVOUR::gemm_swiglu_room
