// SPDX-License-Identifier: Apache-2.0
// Three kernels, as a framework runs them: gate = x w_gate^T and up = x w_up^T, rounded to the dtype, into workspace, then
// y = silu(gate) * up.  The baseline for the fused kernels: the products are mma_tiled's (f32: fma_tiled's).
#include "cuda/core/product.cuh"
#include "cuda/gemm_swiglu/silu_times.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ROOM(gemm_swiglu, unfused) {

std::int64_t product_bytes(const gemm_swiglu::Args& a) {
  return a.y.shape[0] * product::pitch(a.y.shape[1]) * size_of(a.y.dtype);
}
std::size_t workspace_bytes(const gemm_swiglu::Args& a) { return static_cast<std::size_t>(2 * product_bytes(a)); }

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, product::kM), tile(Axis::ffn, product::kN), tile(Axis::hidden, product::kK)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .mma_terms = 8, .stores = "gate,up"},
    .workspace_bytes = workspace_bytes,
};

void run(const gemm_swiglu::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], ffn = a.y.shape[1];
  if (rows == 0 || ffn == 0) return;
  const Tensor gate = product::in_workspace(l.workspace, a.y.dtype, rows, ffn);
  const Tensor up = product::in_workspace(static_cast<char*>(l.workspace) + product_bytes(a), a.y.dtype, rows, ffn);
  product::run(a.x, a.w_gate, {}, gate, l.stream);
  product::run(a.x, a.w_up, {}, up, l.stream);
  silu_times(gate, up, a.y, l.stream);
}

}  // namespace assay::ROOM(gemm_swiglu, unfused)
