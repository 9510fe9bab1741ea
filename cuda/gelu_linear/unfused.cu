// SPDX-License-Identifier: Apache-2.0
// Two kernels, as a framework runs them: z = x W^T + b, rounded to the dtype, into workspace, then y = gelu(z).  The baseline for
// the fused GELU: the product is mma_tiled's (f32: fma_tiled's).
#include "cuda/core/gelu_step.cuh"
#include "cuda/core/product.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, unfused) {

KERNEL(gelu_linear){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, product::kM), tile(Axis::out, product::kN), tile(Axis::hidden, product::kK)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .mma_terms = 8, .stores = "z"},
    .workspace_bytes = [](const gelu_linear::Args& a) { return product::workspace_bytes(a.y.shape[0], a.y.shape[1], a.y.dtype); },
};

void run(const gelu_linear::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], out = a.y.shape[1];
  if (rows == 0 || out == 0) return;
  const Tensor z = product::in_workspace(l.workspace, a.y.dtype, rows, out);
  product::run(a.x, a.weight, a.bias, z, l.stream);
  gelu_step(z, a.y, a.form, l.stream);
}

}  // namespace assay::ROOM(gelu_linear, unfused)
