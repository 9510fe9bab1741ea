// SPDX-License-Identifier: Apache-2.0
// Builds the graph that cuDNN's fused engines for attention's gradients match, as cuDNN's own frontend does: D = Σ do·o, times
// one; e = exp(mask(scale·q·kᵀ - lse)); dv = eᵀ·do; ds = scale·((do·vᵀ - D)·e); dk = dsᵀ·q; dq = ds·k, summed in f32 in memory.
// k and v are read transposed.
#include <limits>
#include <map>
#include <stdexcept>

#include "cuda/core/vendor/cudnn_attention.hpp"

namespace assay::vendor::cudnn {

namespace {

AttentionGraph& graph_of(const AttentionGradient& a) {
  static std::map<Key, AttentionGraph> graphs;
  const Key key = key_of(a.q, a.k, a.lse, a.mask, {&a.q, &a.o, &a.d_o, &a.dq, &a.k, &a.v, &a.dk, &a.dv});
  const auto at = graphs.find(key);
  return at != graphs.end() ? at->second : graphs.emplace(key, attention_gradient_graph(a)).first->second;
}

// The workspace holds the f32 sums of dq, then D, then the library's own.
std::size_t rounded(std::int64_t elements) { return (static_cast<std::size_t>(elements) * sizeof(float) + 255) / 256 * 256; }
std::size_t bytes_of_sums(const AttentionGradient& a) { return rounded(a.q.size()); }
std::size_t bytes_of_d(const AttentionGradient& a) { return rounded(a.q.size() / a.q.shape[3]); }

}  // namespace

AttentionGraph attention_gradient_graph(const AttentionGradient& a, const Descriptor* described_device) {
  const std::int64_t batch = a.q.shape[0], seq_q = a.q.shape[1], heads = a.q.shape[2], dim = a.q.shape[3];
  const std::int64_t seq_k = a.k.shape[1];
  const Four scores{batch, heads, seq_q, seq_k}, rows{batch, heads, seq_q, 1}, queries{batch, heads, seq_q, dim};
  const Four transposed{batch, heads, seq_k, seq_q}, transposed_stride{heads * seq_q * seq_k, seq_q * seq_k, 1, seq_k};
  const auto chip = [&](Graph& to, const Four& shape) { return to.on_chip(CUDNN_DATA_FLOAT, shape); };
  AttentionGraph built;
  Graph g;
  const auto q = in_memory(g, a.q), k = in_memory(g, a.k, true), v = in_memory(g, a.v, true), o = in_memory(g, a.o),
             d_o = in_memory(g, a.d_o), lse = row_values(g, a.lse), dq = in_memory(g, a.dq), dk = in_memory(g, a.dk),
             dv = in_memory(g, a.dv);
  const auto sums = g.tensor(CUDNN_DATA_FLOAT, queries, packed(queries), Graph::Kind::memory);
  const auto d = g.tensor(CUDNN_DATA_FLOAT, rows, packed(rows), Graph::Kind::memory);
  const auto scale = g.by_value(CUDNN_DATA_FLOAT), one = g.by_value(CUDNN_DATA_FLOAT);
  built.ids = {q, k, v, o, d_o, lse, dq, dk, dv, sums, d, scale, one};

  const auto products = chip(g, queries), dots = chip(g, rows);
  g.pointwise(CUDNN_POINTWISE_MUL, {d_o, o}, products);
  g.reduce(CUDNN_REDUCE_TENSOR_ADD, products, dots);
  g.pointwise(CUDNN_POINTWISE_MUL, {dots, one}, d);

  const auto raw = chip(g, scores), scaled = chip(g, scores), below = chip(g, scores), e = chip(g, scores);
  g.matmul(q, k, raw);
  g.pointwise(CUDNN_POINTWISE_MUL, {raw, scale}, scaled);
  g.pointwise(CUDNN_POINTWISE_SUB, {scaled, lse}, below);
  g.pointwise(CUDNN_POINTWISE_EXP, {masked(g, below, scores, a.mask, built.ids)}, e);

  // Adds xᵀ·y of each head.
  const auto rotated_product = [&](std::int64_t x, std::int64_t y, std::int64_t to) {
    const auto x_transposed = g.tensor(type_of(a.q), transposed, transposed_stride, Graph::Kind::on_chip);
    g.reshape(x, x_transposed);
    g.matmul(x_transposed, y, to);
  };
  rotated_product(e, d_o, dv);

  const auto g_raw = chip(g, scores), difference = chip(g, scores), weighted = chip(g, scores), ds = chip(g, scores);
  g.matmul(d_o, v, g_raw);
  g.pointwise(CUDNN_POINTWISE_SUB, {g_raw, d}, difference);
  g.pointwise(CUDNN_POINTWISE_MUL, {difference, e}, weighted);
  g.pointwise(CUDNN_POINTWISE_MUL, {weighted, scale}, ds);
  rotated_product(ds, q, dk);

  const Four k_shape{batch, heads, seq_k, dim}, k_stride{a.k.stride[0], a.k.stride[2], a.k.stride[1], a.k.stride[3]};
  const auto k_turned = g.tensor(type_of(a.k), k_shape, k_stride, Graph::Kind::on_chip);
  g.reshape(k, k_turned);
  g.matmul(ds, k_turned, sums);
  g.pointwise(CUDNN_POINTWISE_IDENTITY, {sums}, dq);
  built.plans = g.plans(1, built.why, described_device);
  built.graph.push_back(std::move(g));
  return built;
}

Legality supports(const AttentionGradient& a) {
  constexpr std::size_t kLeastVersion = 91600;  // older ones need keys beyond a multiple of 128 to be masked by lengths
  if (api().cudnnGetVersion() < kLeastVersion) return Legality::no("cuDNN before 9.16 is not asked");
  const Legality common = common_limits(a.q, a.k, a.lse, a.mask, {&a.q, &a.o, &a.d_o, &a.dq, &a.k, &a.v, &a.dk, &a.dv});
  if (!common || a.q.shape[0] == 0) return common;
  if (a.q.shape[1] == 0) return Legality::no("at least one query");
  // Note: with f32 sums over the heads of a group, the plan of cuDNN 9.19 wrote wrong dK and dV on an H200.
  if (a.q.shape[2] != a.k.shape[2]) return Legality::no("as many heads of keys as of queries");
  const AttentionGraph& built = graph_of(a);
  return built.plans.empty() ? Legality::no("cuDNN: " + built.why) : Legality::yes();
}

std::size_t workspace_bytes(const AttentionGradient& a) {
  if (a.q.size() == 0) return 0;
  return bytes_of_sums(a) + bytes_of_d(a) + static_cast<std::size_t>(graph_of(a).plans.at(0).workspace_bytes);
}

void run(const AttentionGradient& a, const Launch& l) {
  if (a.q.size() == 0) return;
  auto* const sums = static_cast<char*>(l.workspace);
  char* const d = sums + bytes_of_sums(a);
  float scale = static_cast<float>(a.scale), one = 1;
  execute(
      graph_of(a),
      {a.q.data, a.k.data, a.v.data, a.o.data, a.d_o.data, a.lse.data, a.dq.data, a.dk.data, a.dv.data, sums, d, &scale, &one},
      {-std::numeric_limits<float>::infinity(), static_cast<std::int32_t>(a.k.shape[1]), static_cast<std::int32_t>(a.q.shape[1])},
      l, d + bytes_of_d(a));
}

}  // namespace assay::vendor::cudnn
