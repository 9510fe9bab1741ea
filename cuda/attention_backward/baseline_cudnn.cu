// SPDX-License-Identifier: Apache-2.0
// cuDNN's fused gradients of attention through its graph API: the first plan that its heuristics propose and that builds.
#include "cuda/core/kernel.cuh"
#include "cuda/core/vendor/cudnn.hpp"
#include "ops/attention_backward.hpp"

namespace assay::ROOM(attention_backward, baseline_cudnn) {

vendor::cudnn::AttentionGradient gradient(const attention_backward::Args& a) {
  using Mask = attention_backward::Mask;
  const auto mask = a.mask == Mask::none     ? vendor::cudnn::Mask::none
                    : a.mask == Mask::causal ? vendor::cudnn::Mask::causal_bottom_right
                                             : vendor::cudnn::Mask::causal_top_left;
  return {.q = a.q,
          .o = a.o,
          .d_o = a.d_o,
          .dq = a.dq,
          .k = a.k,
          .v = a.v,
          .dk = a.dk,
          .dv = a.dv,
          .lse = a.lse,
          .mask = mask,
          .scale = a.scale_used()};
}
// Note: cuDNN 9.19 on an H200 gave NaN for all but the first head of one query of one sequence, where heads were not adjacent in
// q, and where they were in q but not in all of o, dO and dQ.
Legality supports(const attention_backward::Args& a) {
  const Tensor& q = a.q;  // [batch, seq_q, heads, head_dim], as o, dO and dQ
  const auto adjacent = [](const Tensor& t) { return t.stride[2] == t.shape[3]; };
  if (q.shape[0] * q.shape[1] == 1 && q.shape[2] > 1 && !(adjacent(q) && adjacent(a.o) && adjacent(a.d_o) && adjacent(a.dq)))
    return Legality::no("one query of one sequence, whose heads are not adjacent, gets wrong gradients from cuDNN");
  return vendor::cudnn::supports(gradient(a));
}
std::size_t workspace_bytes(const attention_backward::Args& a) { return vendor::cudnn::workspace_bytes(gradient(a)); }

// Note: cuDNN does not document how it sums or where it scales.  Assumed from its graph: scale dS is rounded before the products
// with K and Q, exp is the hardware's and flushes subnormals, as do its inputs and outputs (like its forward pass).  All blocks
// of keys add to dQ, in any order.
KERNEL(attention_backward){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .deterministic = false,
    .finite_inputs = true,
    .tiles = {tile(Axis::seq_q, 128), tile(Axis::seq_k, 128)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = 1},
                 .mma_terms = 8,
                 .stores = "p_of_dv,scaled_ds",
                 .flushes_subnormals = true,
                 .flushes_storage = true},
    .available = vendor::cudnn::available,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

void run(const attention_backward::Args& a, const Launch& l) { vendor::cudnn::run(gradient(a), l); }

}  // namespace assay::ROOM(attention_backward, baseline_cudnn)
