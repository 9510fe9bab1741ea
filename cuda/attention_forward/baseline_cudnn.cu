// SPDX-License-Identifier: Apache-2.0
// cuDNN's fused attention through its graph API: the first plan that its heuristics propose and that builds.
#include "cuda/core/kernel.cuh"
#include "cuda/core/vendor/cudnn.hpp"
#include "ops/attention_forward.hpp"

namespace assay::ROOM(attention_forward, baseline_cudnn) {

vendor::cudnn::Attention attention(const attention_forward::Args& a) {
  using Mask = attention_forward::Mask;
  const auto mask = a.mask == Mask::none     ? vendor::cudnn::Mask::none
                    : a.mask == Mask::causal ? vendor::cudnn::Mask::causal_bottom_right
                                             : vendor::cudnn::Mask::causal_top_left;
  return {.q = a.q, .o = a.o, .k = a.k, .v = a.v, .lse = a.lse, .mask = mask, .scale = a.scale_used()};
}
Legality supports(const attention_forward::Args& a) {
  if (a.window != 0 || a.softcap != 0) return Legality::no("a window or a softcap is not supported");
  if (a.packed || a.rope.rotary(a.q.shape[3])) return Legality::no("packed sequences and rope are not supported");
  return vendor::cudnn::supports(attention(a));
}
std::size_t workspace_bytes(const attention_forward::Args& a) { return vendor::cudnn::workspace_bytes(attention(a)); }

// Note: a hidden NaN of V is multiplied by 0, which gives NaN.  cuDNN does not document how it sums; assumed as in published
// kernels: 128 queries against 128 keys, the four lanes of a row added at the end.
KERNEL(attention_forward){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .deterministic = false,  // Note: of the log-sum-exp, with one query and many keys
    .finite_inputs = true,
    .tiles = {tile(Axis::seq_q, 128), tile(Axis::seq_k, 128)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = 64, .extra = 32 + 2},
                 .mma_terms = 8,
                 .stores = "exps",
                 .flushes_subnormals = true,
                 .flushes_storage = true,
                 .rescales = {.lanes = 128}},
    .available = vendor::cudnn::available,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

void run(const attention_forward::Args& a, const Launch& l) { vendor::cudnn::run(attention(a), l); }

}  // namespace assay::ROOM(attention_forward, baseline_cudnn)
