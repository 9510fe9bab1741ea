// SPDX-License-Identifier: Apache-2.0
// One library call or element-wise kernel per step, as an eager framework runs it: scores by cuBLASLt, scaled in the call like
// baddbmm and rounded to the dtype; -inf for hidden keys, in place; the softmax of each row by the kernel of `unfused`.
#include "cuda/attention_scores/softmax.cuh"
#include "cuda/core/mask_scores.cuh"
#include "cuda/core/vendor/cublaslt_heads.hpp"

namespace assay::ROOM(attention_scores, baseline_eager) {

// Workspace: the scores, then cuBLASLt's.
Tensor scores(const attention_scores::Args& a, void* workspace) {
  const std::int64_t queries = a.q.shape[1], heads = a.q.shape[2], row = pitch(a);
  return {.data = workspace,
          .dtype = a.q.dtype,
          .rank = 4,
          .shape = {a.q.shape[0], queries, heads, a.k.shape[1]},
          .stride = {heads * queries * row, row, queries * row, 1}};
}
std::size_t bytes_before_library(const attention_scores::Args& a) { return (bytes_of_scores(a) + 255) / 256 * 256; }
vendor::cublaslt::HeadProducts product(const attention_scores::Args& a, void* workspace) {
  return {.x = a.q, .w = a.k, .y = scores(a, workspace), .scale = static_cast<float>(a.scale_used())};
}

Legality supports(const attention_scores::Args& a) { return vendor::cublaslt::supports(product(a, nullptr)); }
std::size_t workspace_bytes(const attention_scores::Args& a) {
  return bytes_before_library(a) + vendor::cublaslt::workspace_bytes(product(a, nullptr));
}

// Note: the softmax sees hidden keys as -inf, so a NaN score makes hidden keys of its row NaN too.
KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .finite_inputs = true,
    .tiles = {tile(Axis::seq_q, 128), tile(Axis::seq_k, 128)},
    .numerics = {.accumulate = f32,
                 .chain = row_softmax::kBlockChain,
                 .mma_terms = 8,
                 .stores = "scores",  // also covers the single FMA chain of head_dim terms in f32
                 .flushes_subnormals = true,
                 .rescales = row_softmax::kBlockRescales},
    .available = vendor::cublaslt::available,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

void run(const attention_scores::Args& a, const Launch& l) {
  using Mask = attention_scores::Mask;
  if (a.p.size() == 0) return;
  vendor::cublaslt::run(product(a, l.workspace),
                        {.stream = l.stream, .workspace = static_cast<char*>(l.workspace) + bytes_before_library(a)});
  if (a.mask != Mask::none)
    run_mask_scores(scores(a, l.workspace), a.mask == Mask::causal ? a.k.shape[1] - a.q.shape[1] : 0, l.stream);
  softmax_step(a, l, true);
}

}  // namespace assay::ROOM(attention_scores, baseline_eager)
