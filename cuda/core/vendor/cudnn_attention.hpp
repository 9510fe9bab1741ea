// SPDX-License-Identifier: Apache-2.0
// The attention graphs by themselves, so that they can be built for a device that is only described; and what both are made of.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "cuda/core/vendor/cudnn.hpp"
#include "cuda/core/vendor/cudnn_graph.hpp"

namespace assay::vendor::cudnn {

struct AttentionGraph {
  std::vector<Graph> graph;       // keeps its descriptors alive
  std::vector<Plan> plans;        // one, or none
  std::string why;                // none
  std::vector<std::int64_t> ids;  // of what has an address, the mask's last
};
// Addresses: q, k, v, o, lse, scale.
AttentionGraph attention_graph(const Attention& a, const Descriptor* described_device = nullptr);
// Addresses: q, k, v, o, do, lse, dq, dk, dv, sums of dq, D, scale, 1.
AttentionGraph attention_gradient_graph(const AttentionGradient& a, const Descriptor* described_device = nullptr);

// A tensor [batch, seq, heads, head_dim] as the library has it, [batch, heads, seq, head_dim]; transposed, the last two change
// places.  And lse as [batch, heads, seq_q, 1].
cudnnDataType_t type_of(const Tensor& t);
std::int64_t in_memory(Graph& g, const Tensor& t, bool transposed = false);
std::int64_t row_values(Graph& g, const Tensor& lse);
// s [batch, heads, seq_q, seq_k] where the key is visible, else -inf.  Adds the mask's ids: of -inf, and of seq_k and seq_q where
// it is moved to the bottom right.
std::int64_t masked(Graph& g, std::int64_t s, const Four& scores, Mask mask, std::vector<std::int64_t>& ids);
// The mask's values, whose addresses follow a graph's own.
struct MaskValues {
  float infinity;
  std::int32_t seq_k, seq_q;
};
void execute(const AttentionGraph& built, std::vector<void*> addresses, MaskValues mask, const Launch& l, void* workspace);

// What the library takes of neither.  `all`: the tensors with a head_dim.
Legality common_limits(const Tensor& q, const Tensor& k, const Tensor& lse, Mask mask, std::initializer_list<const Tensor*> all);
// What a graph depends on.
using Key = std::vector<std::int64_t>;
Key key_of(const Tensor& q, const Tensor& k, const Tensor& lse, Mask mask, std::initializer_list<const Tensor*> all);

}  // namespace assay::vendor::cudnn
