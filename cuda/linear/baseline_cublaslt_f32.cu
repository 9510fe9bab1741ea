// SPDX-License-Identifier: Apache-2.0
// cuBLASLt in f32 arithmetic (no TF32), the fastest of the algorithms that its heuristics propose: one call, the bias added
// in its epilogue.  Its summation order is undocumented, so the longest possible chain is declared.
#include "cuda/core/kernel.cuh"
#include "cuda/core/vendor/cublaslt.hpp"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, baseline_cublaslt_f32) {

vendor::cublaslt::Matmul matmul(const linear::Args& a) { return {.x = a.x, .w = a.weight, .bias = a.bias, .y = a.y}; }
Legality supports(const linear::Args& a) { return vendor::cublaslt::supports(matmul(a)); }
std::size_t workspace_bytes(const linear::Args& a) { return vendor::cublaslt::workspace_bytes(matmul(a)); }

// Note: cuBLASLt chooses its tiles; 128 x 128 is the commonest.
KERNEL(linear){
    .dtypes = {f32},
    .tiles = {tile(Axis::tokens, 128), tile(Axis::out, 128)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
    .available = vendor::cublaslt::available,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

void run(const linear::Args& a, const Launch& l) { vendor::cublaslt::run(matmul(a), l); }

}  // namespace assay::ROOM(linear, baseline_cublaslt_f32)
