// SPDX-License-Identifier: Apache-2.0
// cuBLASLt, the fastest of the algorithms that its heuristics propose: one call, the bias added in its epilogue.
#include "cuda/core/kernel.cuh"
#include "cuda/core/vendor/cublaslt.hpp"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, baseline_cublaslt) {

vendor::cublaslt::Matmul matmul(const linear::Args& a) { return {.x = a.x, .w = a.weight, .bias = a.bias, .y = a.y}; }
Legality supports(const linear::Args& a) { return vendor::cublaslt::supports(matmul(a)); }
std::size_t workspace_bytes(const linear::Args& a) { return vendor::cublaslt::workspace_bytes(matmul(a)); }

// Note: cuBLASLt chooses its tiles; 128 x 128 is the commonest.  Some of its algorithms round the product to the dtype before the
// bias is added (measured on an H200 in bf16: such results exceed the bound without that rounding).
KERNEL(linear){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::out, 128)},
    .numerics = {.accumulate = f32, .mma_terms = 8, .stores = "before_bias"},
    .available = vendor::cublaslt::available,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

void run(const linear::Args& a, const Launch& l) { vendor::cublaslt::run(matmul(a), l); }

}  // namespace assay::ROOM(linear, baseline_cublaslt)
