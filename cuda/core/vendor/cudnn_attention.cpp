// SPDX-License-Identifier: Apache-2.0
// Builds the graph that cuDNN's fused attention engines match: s = scale·q·kᵀ, masked; m = max s; e = exp(s - m); l = Σe;
// p = e/l; o = p·v; lse = m + log l.  Shapes are [batch, heads, seq, head_dim]; k is read transposed.
#include "cuda/core/vendor/cudnn_attention.hpp"

#include <limits>
#include <map>
#include <stdexcept>

namespace assay::vendor::cudnn {

namespace {

AttentionGraph& graph_of(const Attention& a) {
  static std::map<Key, AttentionGraph> graphs;
  const Key key = key_of(a.q, a.k, a.lse, a.mask, {&a.q, &a.k, &a.v, &a.o});
  const auto at = graphs.find(key);
  return at != graphs.end() ? at->second : graphs.emplace(key, attention_graph(a)).first->second;
}

}  // namespace

cudnnDataType_t type_of(const Tensor& t) { return t.dtype == f16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16; }

std::int64_t in_memory(Graph& g, const Tensor& t, bool transposed) {
  Four shape{t.shape[0], t.shape[2], t.shape[1], t.shape[3]}, stride{t.stride[0], t.stride[2], t.stride[1], t.stride[3]};
  if (transposed) {
    std::swap(shape[2], shape[3]);
    std::swap(stride[2], stride[3]);
  }
  return g.tensor(type_of(t), shape, stride, Graph::Kind::memory);
}

std::int64_t row_values(Graph& g, const Tensor& lse) {
  return g.tensor(CUDNN_DATA_FLOAT, {lse.shape[0], lse.shape[1], lse.shape[2], 1},
                  {lse.stride[0], lse.stride[1], lse.stride[2], 1}, Graph::Kind::memory);
}

std::int64_t masked(Graph& g, std::int64_t s, const Four& scores, Mask mask, std::vector<std::int64_t>& ids) {
  if (mask == Mask::none) return s;
  const auto infinity = g.by_value(CUDNN_DATA_FLOAT);
  ids.push_back(infinity);
  auto row = g.on_chip(CUDNN_DATA_INT32, scores);
  const auto column = g.on_chip(CUDNN_DATA_INT32, scores), visible = g.on_chip(CUDNN_DATA_BOOLEAN, scores);
  const auto result = g.on_chip(CUDNN_DATA_FLOAT, scores);
  g.pointwise(CUDNN_POINTWISE_GEN_INDEX, {s}, row, CUDNN_DATA_FLOAT, 2);
  g.pointwise(CUDNN_POINTWISE_GEN_INDEX, {s}, column, CUDNN_DATA_FLOAT, 3);
  if (mask == Mask::causal_bottom_right && scores[2] != scores[3]) {
    const auto add = g.by_value(CUDNN_DATA_INT32), take = g.by_value(CUDNN_DATA_INT32);
    const auto longer = g.on_chip(CUDNN_DATA_INT32, scores), shifted = g.on_chip(CUDNN_DATA_INT32, scores);
    ids.push_back(add);
    ids.push_back(take);
    g.pointwise(CUDNN_POINTWISE_ADD, {row, add}, longer, CUDNN_DATA_INT32);
    g.pointwise(CUDNN_POINTWISE_SUB, {longer, take}, shifted, CUDNN_DATA_INT32);
    row = shifted;
  }
  g.pointwise(CUDNN_POINTWISE_CMP_GE, {row, column}, visible, CUDNN_DATA_BOOLEAN);
  g.pointwise(CUDNN_POINTWISE_BINARY_SELECT, {s, infinity, visible}, result);
  return result;
}

void execute(const AttentionGraph& built, std::vector<void*> addresses, MaskValues mask, const Launch& l, void* workspace) {
  if (built.plans.empty()) throw std::runtime_error("cuDNN: " + built.why);
  for (void* of_mask : {static_cast<void*>(&mask.infinity), static_cast<void*>(&mask.seq_k), static_cast<void*>(&mask.seq_q)})
    addresses.push_back(of_mask);
  addresses.resize(built.ids.size());
  execute(built.plans[0], built.ids, addresses, workspace, l.stream);
}

Legality common_limits(const Tensor& q, const Tensor& k, const Tensor& lse, Mask mask, std::initializer_list<const Tensor*> all) {
  if (q.dtype != f16 && q.dtype != bf16) return Legality::no("f16 and bf16");
  if (q.size() == 0) return Legality::yes();
  if (k.shape[1] == 0) return Legality::no("at least one key");
  if (q.shape[3] % 8 || q.shape[3] > 256) return Legality::no("head_dim must be a multiple of 8 up to 256");
  if (mask == Mask::causal_bottom_right && q.shape[1] > k.shape[1])
    return Legality::no("bottom-right causal needs seq_q <= seq_k");
  for (const Tensor* t : all)
    if (!t->rows_contiguous() || !t->rows_aligned(16)) return Legality::no("rows must be contiguous and 16-byte aligned");
  if (!lse.rows_aligned(4)) return Legality::no("lse must be aligned");
  return Legality::yes();
}

Key key_of(const Tensor& q, const Tensor& k, const Tensor& lse, Mask mask, std::initializer_list<const Tensor*> all) {
  Key key{static_cast<std::int64_t>(q.dtype), static_cast<std::int64_t>(mask), k.shape[1], k.shape[2]};
  key.insert(key.end(), q.shape.begin(), q.shape.begin() + 4);
  key.insert(key.end(), lse.stride.begin(), lse.stride.begin() + 3);
  for (const Tensor* t : all) key.insert(key.end(), t->stride.begin(), t->stride.begin() + 4);
  return key;
}

AttentionGraph attention_graph(const Attention& a, const Descriptor* described_device) {
  const std::int64_t batch = a.q.shape[0], seq_q = a.q.shape[1], heads = a.q.shape[2], seq_k = a.k.shape[1];
  const Four scores{batch, heads, seq_q, seq_k}, rows{batch, heads, seq_q, 1};
  AttentionGraph built;
  Graph g;
  const auto q = in_memory(g, a.q), k = in_memory(g, a.k, true), v = in_memory(g, a.v), o = in_memory(g, a.o);
  const auto lse = row_values(g, a.lse), scale = g.by_value(CUDNN_DATA_FLOAT);
  built.ids = {q, k, v, o, lse, scale};

  const auto raw = g.on_chip(CUDNN_DATA_FLOAT, scores), scaled = g.on_chip(CUDNN_DATA_FLOAT, scores);
  g.matmul(q, k, raw);
  g.pointwise(CUDNN_POINTWISE_MUL, {raw, scale}, scaled);
  const auto s = masked(g, scaled, scores, a.mask, built.ids);
  const auto most = g.on_chip(CUDNN_DATA_FLOAT, rows), sum = g.on_chip(CUDNN_DATA_FLOAT, rows),
             log = g.on_chip(CUDNN_DATA_FLOAT, rows);
  const auto below = g.on_chip(CUDNN_DATA_FLOAT, scores), e = g.on_chip(CUDNN_DATA_FLOAT, scores),
             p = g.on_chip(type_of(a.q), scores);
  g.reduce(CUDNN_REDUCE_TENSOR_MAX, s, most);
  g.pointwise(CUDNN_POINTWISE_SUB, {s, most}, below);
  g.pointwise(CUDNN_POINTWISE_EXP, {below}, e);
  g.reduce(CUDNN_REDUCE_TENSOR_ADD, e, sum);
  g.pointwise(CUDNN_POINTWISE_LOG, {sum}, log);
  g.pointwise(CUDNN_POINTWISE_ADD, {most, log}, lse);
  g.pointwise(CUDNN_POINTWISE_DIV, {e, sum}, p);
  g.matmul(p, v, o);
  built.plans = g.plans(1, built.why, described_device);
  built.graph.push_back(std::move(g));
  return built;
}

Legality supports(const Attention& a) {
  const Legality common = common_limits(a.q, a.k, a.lse, a.mask, {&a.q, &a.k, &a.v, &a.o});
  if (!common || a.o.size() == 0) return common;
  const AttentionGraph& built = graph_of(a);
  return built.plans.empty() ? Legality::no("cuDNN: " + built.why) : Legality::yes();
}

std::size_t workspace_bytes(const Attention& a) {
  return a.o.size() ? static_cast<std::size_t>(graph_of(a).plans.at(0).workspace_bytes) : 0;
}

void run(const Attention& a, const Launch& l) {
  if (a.o.size() == 0) return;
  float scale = static_cast<float>(a.scale);
  execute(
      graph_of(a), {a.q.data, a.k.data, a.v.data, a.o.data, a.lse.data, &scale},
      {-std::numeric_limits<float>::infinity(), static_cast<std::int32_t>(a.k.shape[1]), static_cast<std::int32_t>(a.q.shape[1])},
      l, l.workspace);
}

}  // namespace assay::vendor::cudnn
