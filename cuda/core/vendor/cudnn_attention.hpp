// SPDX-License-Identifier: Apache-2.0
// The attention graph by itself, so that it can be built for a device that is only described.
#pragma once

#include "cuda/core/vendor/cudnn.hpp"
#include "cuda/core/vendor/cudnn_graph.hpp"

namespace assay::vendor::cudnn {

struct AttentionGraph {
  std::vector<Graph> graph;       // keeps its descriptors alive
  std::vector<Plan> plans;        // one, or none
  std::string why;                // none
  std::vector<std::int64_t> ids;  // q, k, v, o, lse, scale; masked: -inf; moved to the bottom right: seq_k, seq_q
};
AttentionGraph attention_graph(const Attention& a, const Descriptor* described_device = nullptr);

}  // namespace assay::vendor::cudnn
