// SPDX-License-Identifier: Apache-2.0
// The pipeline of `unfused` with cuBLASLt's products: one call each for gate and up, rounded to the dtype, into workspace, then
// y = silu(gate) * up by our kernel, since cuBLASLt has no such epilogue.
#include "cuda/gemm_swiglu/library_products.cuh"
#include "cuda/gemm_swiglu/silu_times.cuh"

namespace assay::ROOM(gemm_swiglu, baseline_cublaslt) {

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::ffn, 128)},
    .numerics = {.accumulate = f32, .mma_terms = 8, .stores = "gate,up"},
    .available = vendor::cublaslt::available,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

void run(const gemm_swiglu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Plan p = run_products(a, l);
  silu_times(p.gate, p.up, a.y, l.stream);
}

}  // namespace assay::ROOM(gemm_swiglu, baseline_cublaslt)
