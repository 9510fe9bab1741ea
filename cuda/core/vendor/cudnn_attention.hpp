// SPDX-License-Identifier: Apache-2.0
// The graphs of attention and its gradient, apart so that they can be built for a device that is only described.
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
  std::string why;                // why there is none
  std::vector<std::int64_t> ids;  // of tensors and values with an address, the mask's last
};
// Order of addresses: q, k, v, o, lse, scale.
AttentionGraph attention_graph(const Attention& a, const Descriptor* described_device = nullptr);
// Order of addresses: q, k, v, o, do, lse, dq, dk, dv, sums of dq, D, scale, 1.
AttentionGraph attention_gradient_graph(const AttentionGradient& a, const Descriptor* described_device = nullptr);

// Add a tensor [batch, seq, heads, head_dim] in the library's order, [batch, heads, seq, head_dim], with the last two exchanged
// if `transposed`; and lse as [batch, heads, seq_q, 1].
cudnnDataType_t type_of(const Tensor& t);
std::int64_t in_memory(Graph& g, const Tensor& t, bool transposed = false);
std::int64_t row_values(Graph& g, const Tensor& lse);
// Adds the mask: s [batch, heads, seq_q, seq_k] where the key is visible, else -inf.  Appends its ids: of -inf, then of seq_k and
// seq_q if the mask is moved to the bottom right.
std::int64_t masked(Graph& g, std::int64_t s, const Four& scores, Mask mask, std::vector<std::int64_t>& ids);
// The mask's values, whose addresses follow a graph's own.
struct MaskValues {
  float infinity;
  std::int32_t seq_k, seq_q;
};
void execute(const AttentionGraph& built, std::vector<void*> addresses, MaskValues mask, const Launch& l, void* workspace);

// The limits that the library has for both graphs.  `all`: the tensors with a head_dim.
Legality common_limits(const Tensor& q, const Tensor& k, const Tensor& lse, Mask mask, std::initializer_list<const Tensor*> all);
// All that a graph depends on.
using Key = std::vector<std::int64_t>;
Key key_of(const Tensor& q, const Tensor& k, const Tensor& lse, Mask mask, std::initializer_list<const Tensor*> all);

}  // namespace assay::vendor::cudnn
