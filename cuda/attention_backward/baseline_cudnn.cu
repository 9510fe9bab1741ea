// SPDX-License-Identifier: Apache-2.0
// cuDNN's fused gradients of attention, by its graph interface: the first plan that its heuristics propose and that can be made.
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
Legality supports(const attention_backward::Args& a) { return vendor::cudnn::supports(gradient(a)); }
std::size_t workspace_bytes(const attention_backward::Args& a) { return vendor::cudnn::workspace_bytes(gradient(a)); }

// Note: the library does not say how it sums, nor where it scales; what its graph says is taken for granted: scale dS is what is
// rounded before it meets K and Q, and exp is the hardware's, which flushes, as does cuDNN's forward pass what it reads and
// writes.  dQ is added up by all blocks of keys, in any order.
KERNEL(attention_backward){
    .dtypes = {f16, bf16},
    .least_arch = 80,
    .deterministic = false,
    .finite_inputs = true,
    .tiles = {tile(Axis::seq_q, 128), tile(Axis::seq_k, 128)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = 1},
                 .mma_terms = 8,
                 .narrow_probabilities = true,
                 .scaled_gradients = true,
                 .flushes_subnormals = true,
                 .flushes_storage = true},
    .available = vendor::cudnn::available,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

void run(const attention_backward::Args& a, const Launch& l) { vendor::cudnn::run(gradient(a), l); }

}  // namespace assay::ROOM(attention_backward, baseline_cudnn)
