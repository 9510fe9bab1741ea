// SPDX-License-Identifier: Apache-2.0
// One library call or element-wise kernel per step, as an eager framework runs it: scores by cuBLASLt, scaled in the call like
// baddbmm and rounded to the dtype; -inf for hidden keys, in place; softmax, in place, and L, by the kernel of `unfused`;
// O = P V by cuBLASLt.  No tile is skipped for a mask.
#include "cuda/attention_forward/materialised.cuh"
#include "cuda/core/mask_scores.cuh"
#include "cuda/core/vendor/cublaslt_heads.hpp"

namespace assay::ROOM(attention_forward, baseline_eager) {

// Workspace: the scores, then cuBLASLt's.
struct Plan {
  Tensor scores;  // [batch, seq_q, heads, seq_k]
  vendor::cublaslt::HeadProducts of_keys, of_values;
  void* rest;
};
std::size_t bytes_before_library(const attention_forward::Args& a) { return (bytes_of_scores(a) + 255) / 256 * 256; }
Plan plan(const attention_forward::Args& a, void* workspace) {
  const std::int64_t queries = a.q.shape[1], heads = a.q.shape[2], row = pitch(a);
  const Tensor scores{.data = workspace,
                      .dtype = a.q.dtype,
                      .rank = 4,
                      .shape = {a.q.shape[0], queries, heads, a.k.shape[1]},
                      .stride = {heads * queries * row, row, queries * row, 1}};
  return {scores,
          {.x = a.q, .w = a.k, .y = scores, .scale = static_cast<float>(a.scale_used())},
          {.x = scores, .w = a.v, .y = a.o, .as_it_is = true},
          workspace ? static_cast<char*>(workspace) + bytes_before_library(a) : nullptr};
}

Legality supports(const attention_forward::Args& a) {
  for (const Legality& plain : {only_masks(a), extents_fit(a)})
    if (!plain) return plain;
  if (a.k.shape[1] == 0) return Legality::no("seq_k must be at least 1");
  const Plan p = plan(a, nullptr);
  const Legality keys = vendor::cublaslt::supports(p.of_keys);
  return keys ? vendor::cublaslt::supports(p.of_values) : keys;
}
std::size_t workspace_bytes(const attention_forward::Args& a) {
  const Plan p = plan(a, nullptr);
  return bytes_before_library(a) +
         std::max(vendor::cublaslt::workspace_bytes(p.of_keys), vendor::cublaslt::workspace_bytes(p.of_values));
}

// Note: a hidden NaN of V is multiplied by 0, which gives NaN.
KERNEL(attention_forward){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .finite_inputs = true,
    .tiles = {tile(Axis::seq_q, 128), tile(Axis::seq_k, 128)},
    // The chain is that of the softmax, as in `unfused`; mma_terms also covers the single FMA chains of f32.
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kSoftmaxThreads, .extra = 8 + 10},
                 .mma_terms = 8,
                 .stores = "scores,weights"},
    .available = vendor::cublaslt::available,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

void run(const attention_forward::Args& a, const Launch& l) {
  using Mask = attention_forward::Mask;
  if (a.o.size() == 0) return;
  const Plan p = plan(a, l.workspace);
  const Launch library{.stream = l.stream, .workspace = p.rest};
  vendor::cublaslt::run(p.of_keys, library);
  if (a.mask != Mask::none) run_mask_scores(p.scores, a.mask == Mask::causal ? a.k.shape[1] - a.q.shape[1] : 0, l.stream);
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    Problem<T> all = problem<T>(a);
    all.above = all.keys;  // hidden keys are -inf
    run_softmax(all, Scores<T>{static_cast<T*>(l.workspace), pitch(a)}, l);
  });
  vendor::cublaslt::run(p.of_values, library);
}

}  // namespace assay::ROOM(attention_forward, baseline_eager)
