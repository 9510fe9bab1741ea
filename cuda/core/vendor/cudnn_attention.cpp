// SPDX-License-Identifier: Apache-2.0
// The graph that cuDNN's fused attention engines know: s = scale·q·kᵀ, masked; m = max s; e = exp(s - m); l = Σe; p = e/l; o =
// p·v; lse = m + log l.  Shapes are [batch, heads, seq, head_dim]; k is read as its transpose.
#include "cuda/core/vendor/cudnn_attention.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

namespace assay::vendor::cudnn {

namespace {

// Ours are [batch, seq, heads, head_dim].
Four stride_of(const Tensor& t) { return {t.stride[0], t.stride[2], t.stride[1], t.stride[3]}; }

using Key = std::array<std::int64_t, 30>;
Key key_of(const Attention& a) {
  Key key{};
  std::size_t i = 0;
  for (const Tensor* t : {&a.q, &a.k, &a.v, &a.o})
    for (int axis = 0; axis < 4; ++axis) key[i++] = t->stride[axis];
  for (int axis = 0; axis < 4; ++axis) key[i++] = a.q.shape[axis];
  for (int axis = 0; axis < 3; ++axis) key[i++] = a.lse.stride[axis];
  key[i++] = a.k.shape[1], key[i++] = a.k.shape[2];
  key[i++] = static_cast<std::int64_t>(a.q.dtype), key[i++] = static_cast<std::int64_t>(a.mask);
  return key;
}

AttentionGraph& graph_of(const Attention& a) {
  static std::map<Key, AttentionGraph> graphs;
  const Key key = key_of(a);
  const auto at = graphs.find(key);
  return at != graphs.end() ? at->second : graphs.emplace(key, attention_graph(a)).first->second;
}

}  // namespace

AttentionGraph attention_graph(const Attention& a, const Descriptor* described_device) {
  const std::int64_t batch = a.q.shape[0], seq_q = a.q.shape[1], heads = a.q.shape[2], dim = a.q.shape[3];
  const std::int64_t seq_k = a.k.shape[1], kv_heads = a.k.shape[2];
  const cudnnDataType_t type = a.q.dtype == f16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16;
  const Four scores{batch, heads, seq_q, seq_k}, rows{batch, heads, seq_q, 1};
  const Four k_stride = stride_of(a.k);
  AttentionGraph built;
  Graph g;
  const auto q = g.tensor(type, {batch, heads, seq_q, dim}, stride_of(a.q), Graph::Kind::memory);
  const auto k =
      g.tensor(type, {batch, kv_heads, dim, seq_k}, {k_stride[0], k_stride[1], k_stride[3], k_stride[2]}, Graph::Kind::memory);
  const auto v = g.tensor(type, {batch, kv_heads, seq_k, dim}, stride_of(a.v), Graph::Kind::memory);
  const auto o = g.tensor(type, {batch, heads, seq_q, dim}, stride_of(a.o), Graph::Kind::memory);
  const auto lse = g.tensor(CUDNN_DATA_FLOAT, rows, {a.lse.stride[0], a.lse.stride[1], a.lse.stride[2], 1}, Graph::Kind::memory);
  const auto scale = g.by_value(CUDNN_DATA_FLOAT);
  built.ids = {q, k, v, o, lse, scale};

  const auto raw = g.on_chip(CUDNN_DATA_FLOAT, scores);
  auto s = g.on_chip(CUDNN_DATA_FLOAT, scores);
  g.matmul(q, k, raw);
  g.pointwise(CUDNN_POINTWISE_MUL, {raw, scale}, s);
  if (a.mask != Mask::none) {
    const auto infinity = g.by_value(CUDNN_DATA_FLOAT);
    built.ids.push_back(infinity);
    auto row = g.on_chip(CUDNN_DATA_INT32, scores);
    const auto column = g.on_chip(CUDNN_DATA_INT32, scores), visible = g.on_chip(CUDNN_DATA_BOOLEAN, scores);
    const auto masked = g.on_chip(CUDNN_DATA_FLOAT, scores);
    g.pointwise(CUDNN_POINTWISE_GEN_INDEX, {s}, row, CUDNN_DATA_FLOAT, 2);
    g.pointwise(CUDNN_POINTWISE_GEN_INDEX, {s}, column, CUDNN_DATA_FLOAT, 3);
    if (a.mask == Mask::causal_bottom_right && seq_q != seq_k) {
      const auto add = g.by_value(CUDNN_DATA_INT32), take = g.by_value(CUDNN_DATA_INT32);
      const auto longer = g.on_chip(CUDNN_DATA_INT32, scores), shifted = g.on_chip(CUDNN_DATA_INT32, scores);
      built.ids.push_back(add), built.ids.push_back(take);
      g.pointwise(CUDNN_POINTWISE_ADD, {row, add}, longer, CUDNN_DATA_INT32);
      g.pointwise(CUDNN_POINTWISE_SUB, {longer, take}, shifted, CUDNN_DATA_INT32);
      row = shifted;
    }
    g.pointwise(CUDNN_POINTWISE_CMP_GE, {row, column}, visible, CUDNN_DATA_BOOLEAN);
    g.pointwise(CUDNN_POINTWISE_BINARY_SELECT, {s, infinity, visible}, masked);
    s = masked;
  }
  const auto most = g.on_chip(CUDNN_DATA_FLOAT, rows), sum = g.on_chip(CUDNN_DATA_FLOAT, rows),
             log = g.on_chip(CUDNN_DATA_FLOAT, rows);
  const auto below = g.on_chip(CUDNN_DATA_FLOAT, scores), e = g.on_chip(CUDNN_DATA_FLOAT, scores), p = g.on_chip(type, scores);
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
  if (a.q.dtype != f16 && a.q.dtype != bf16) return Legality::no("f16 and bf16");
  const std::int64_t seq_q = a.q.shape[1], seq_k = a.k.shape[1], dim = a.q.shape[3];
  if (a.o.size() == 0) return Legality::yes();
  if (seq_k == 0) return Legality::no("at least one key");
  if (dim % 8 || dim > 256) return Legality::no("head_dim must be a multiple of 8 up to 256");
  if (a.mask == Mask::causal_bottom_right && seq_q > seq_k) return Legality::no("bottom-right causal needs seq_q <= seq_k");
  for (const Tensor* t : {&a.q, &a.k, &a.v, &a.o})
    if (!t->rows_contiguous() || !t->rows_aligned(16)) return Legality::no("rows must be contiguous and 16-byte aligned");
  if (!a.lse.rows_aligned(4)) return Legality::no("lse must be aligned");
  const AttentionGraph& built = graph_of(a);
  return built.plans.empty() ? Legality::no("cuDNN: " + built.why) : Legality::yes();
}

std::size_t workspace_bytes(const Attention& a) {
  return a.o.size() ? static_cast<std::size_t>(graph_of(a).plans.at(0).workspace_bytes) : 0;
}

void run(const Attention& a, const Launch& l) {
  if (a.o.size() == 0) return;
  AttentionGraph& built = graph_of(a);
  if (built.plans.empty()) throw std::runtime_error("cuDNN: " + built.why);
  float scale = static_cast<float>(a.scale), infinity = -std::numeric_limits<float>::infinity();
  auto seq_k = static_cast<std::int32_t>(a.k.shape[1]), seq_q = static_cast<std::int32_t>(a.q.shape[1]);
  std::vector<void*> pointers{a.q.data, a.k.data, a.v.data, a.o.data, a.lse.data, &scale, &infinity, &seq_k, &seq_q};
  pointers.resize(built.ids.size());
  execute(built.plans[0], built.ids, pointers, l.workspace, l.stream);
}

}  // namespace assay::vendor::cudnn
