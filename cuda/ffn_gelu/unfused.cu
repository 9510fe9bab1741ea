// SPDX-License-Identifier: Apache-2.0
// Three kernels, as a framework runs them: z = x W1^T + b1, h = gelu(z), y = h W2^T + b2, z and h rounded to the dtype, in
// workspace.  The baseline for the fused kernels: the products are linear/mma_tiled's (f32: fma_tiled's).
#include "cuda/core/gelu_step.cuh"
#include "cuda/core/product.cuh"
#include "ops/ffn_gelu.hpp"

namespace assay::ROOM(ffn_gelu, unfused) {

std::size_t matrix_bytes(const ffn_gelu::Args& a) {
  return static_cast<std::size_t>(ceil_div(a.x.shape[0] * product::pitch(a.w1.shape[0]) * size_of(a.x.dtype), 16) * 16);
}
std::size_t workspace_bytes(const ffn_gelu::Args& a) { return 2 * matrix_bytes(a); }

KERNEL(ffn_gelu){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, product::kM), tile(Axis::hidden, product::kK), tile(Axis::ffn, product::kK)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .mma_terms = 8, .stores = "z,h"},
    .workspace_bytes = workspace_bytes,
};

void run(const ffn_gelu::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0], ffn = a.w1.shape[0];
  if (tokens == 0) return;
  const Tensor z = product::in_workspace(l.workspace, a.x.dtype, tokens, ffn);
  const Tensor h = product::in_workspace(static_cast<char*>(l.workspace) + matrix_bytes(a), a.x.dtype, tokens, ffn);
  product::run(a.x, a.w1, a.b1, z, l.stream);
  gelu_step(z, h, a.form, l.stream);
  product::run(h, a.w2, a.b2, a.y, l.stream);
}

}  // namespace assay::ROOM(ffn_gelu, unfused)
