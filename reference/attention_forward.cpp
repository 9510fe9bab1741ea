// SPDX-License-Identifier: Apache-2.0
// Golden attention in f64: for a block of queries of one head, all scores Q K^T, the softmax of each row over its visible
// keys (a prefix), then P V.  The magnitudes are the same products of |Q|, |K|, Q^2, K^2 and of P, P^2, |V|, V^2.
// Memory: the scores of one block, at most kMostQueries x seq_k, for each thread.
#include "ops/attention_forward.hpp"

#include <omp.h>

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "reference/core/load.hpp"

namespace assay::reference {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Op = attention_forward;

constexpr std::int64_t kMostQueries = 64, kKeys = 512;  // a block's queries; keys that are taken at once
constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

// One key/value head of one sequence.
struct KeysAndValues {
  Matrix k, v;                                             // [seq_k, head_dim]; v with zeros for what is not finite
  std::vector<std::pair<std::int64_t, std::int64_t>> odd;  // (key, channel) of those
};

struct Block {
  std::int64_t batch, head;
  std::vector<std::int64_t> queries;  // sorted
};

KeysAndValues load_keys(const Op::Args& a, Op::Golden& g, std::int64_t batch, std::int64_t kv) {
  const std::int64_t keys = a.k.shape[1], heads = a.k.shape[2], dim = a.k.shape[3];
  KeysAndValues m{Matrix(keys, dim), Matrix(keys, dim), {}};
  const auto at = [&](std::int64_t key) { return ((batch * keys + key) * heads + kv) * dim; };
#pragma omp parallel for schedule(static)
  for (std::int64_t key = 0; key < keys; ++key) {
    m.k.row(key) = load(a.k, at(key), dim).transpose();
    m.v.row(key) = load(a.v, at(key), dim).transpose();
  }
  Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(dim);
  for (std::int64_t key = 0; key < keys; ++key) {
    auto v = m.v.row(key);
    if (!v.allFinite())
      for (std::int64_t c = 0; c < dim; ++c)
        if (!std::isfinite(v[c])) m.odd.emplace_back(key, c), v[c] = 0;
    sum += v.transpose().array().abs();
    Eigen::Map<Eigen::ArrayXd>(g.v_abs.data() + at(key), dim) = sum;
  }
  return m;
}

// The rows to be answered of one key/value head, in blocks: small ones where there would be fewer blocks than threads.
std::vector<Block> blocks_of(const Op::Args& a, const Rows& rows, std::int64_t batch, std::int64_t kv) {
  const std::int64_t queries = a.q.shape[1], heads = a.q.shape[2], group = heads / a.k.shape[2];
  std::vector<Block> blocks;
  for (std::int64_t head = kv * group; head < (kv + 1) * group; ++head) {
    std::vector<std::int64_t> wanted;
    for (std::int64_t query = 0; query < queries; ++query)
      if (rows.has((batch * queries + query) * heads + head)) wanted.push_back(query);
    const auto count = static_cast<std::int64_t>(wanted.size());
    const std::int64_t each = std::clamp<std::int64_t>(count * group / omp_get_max_threads(), 8, kMostQueries);
    for (std::int64_t first = 0; first < count; first += each)
      blocks.push_back({batch, head, {wanted.begin() + first, wanted.begin() + std::min(first + each, count)}});
  }
  return blocks;
}

void answer(const Op::Args& a, Op::Golden& g, const KeysAndValues& m, const Block& block) {
  const std::int64_t queries = a.q.shape[1], heads = a.q.shape[2], dim = a.q.shape[3];
  const auto rows = static_cast<std::int64_t>(block.queries.size());
  const std::int64_t keys = a.visible(block.queries.back());  // beyond it nobody looks
  const double scale = a.scale_used();
  const auto row_of = [&](std::int64_t r) { return (block.batch * queries + block.queries[r]) * heads + block.head; };
  const auto lse_of = [&](std::int64_t r) { return (block.batch * heads + block.head) * queries + block.queries[r]; };

  Matrix q(rows, dim), p(rows, keys);
  for (std::int64_t r = 0; r < rows; ++r) q.row(r) = load(a.q, row_of(r) * dim, dim).transpose();
  const Matrix q_abs = q.cwiseAbs(), q_sq = q.cwiseAbs2();
  Matrix k, products;

  // Scores, and the largest products among those that are finite.
  Eigen::ArrayXd products_abs = Eigen::ArrayXd::Zero(rows), products_sq = products_abs, score_abs = products_abs;
  for (std::int64_t first = 0; first < keys; first += kKeys) {
    const std::int64_t count = std::min(kKeys, keys - first);
    auto s = p.middleCols(first, count);
    s.noalias() = q * m.k.middleRows(first, count).transpose();
    const bool finite = std::isfinite(s.sum());
    const auto largest = [&](const auto& of, Eigen::ArrayXd& max) {
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t seen = std::clamp<std::int64_t>(a.visible(block.queries[r]) - first, 0, count);
        if (seen == 0) continue;
        const auto row = of.row(r).head(seen).array();
        max[r] = std::max(max[r], finite ? row.maxCoeff() : s.row(r).head(seen).array().isFinite().select(row, 0.0).maxCoeff());
      }
    };
    k = m.k.middleRows(first, count).cwiseAbs();
    products.noalias() = q_abs * k.transpose();
    largest(products, products_abs);
    k = k.cwiseAbs2();
    products.noalias() = q_sq * k.transpose();
    largest(products, products_sq);
    largest(s.cwiseAbs(), score_abs);
  }
  score_abs *= scale;

  // Each row's softmax: p becomes exp(s - L) where visible, and 0.
  std::vector<char> spoiled(static_cast<std::size_t>(rows)), empty(spoiled);
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t seen = a.visible(block.queries[r]), at = lse_of(r);
    auto s = p.row(r).head(seen).array();
    s *= scale;
    const double max = seen ? s.maxCoeff<Eigen::PropagateNaN>() : -kInf;
    empty[r] = max == -kInf, spoiled[r] = std::isnan(max) || max == kInf;
    p.row(r).tail(keys - seen).setZero();
    double sum = 0;
    if (empty[r] || spoiled[r]) {
      s.setZero();
    } else {
      s = (s == -kInf).select(0.0, (s - max).exp());
      sum = s.sum();
      s /= sum;
    }
    g.lse[at] = spoiled[r] ? kNaN : max + std::log(sum);
    g.score_max[at] = max;
    g.score_abs[at] = score_abs[r], g.products_abs[at] = products_abs[r], g.products_sq[at] = products_sq[r];
    g.p_sq[at] = s.square().sum();
  }

  // P V and its magnitudes.
  Matrix o = Matrix::Zero(rows, dim), pv_abs = o, pv_sq = o, p_v_sq = o, v, p_sq;
  for (std::int64_t first = 0; first < keys; first += kKeys) {
    const std::int64_t count = std::min(kKeys, keys - first);
    const auto part = p.middleCols(first, count);
    const auto values = m.v.middleRows(first, count);
    o.noalias() += part * values;
    v = values.cwiseAbs();
    pv_abs.noalias() += part * v;
    v = v.cwiseAbs2();
    p_v_sq.noalias() += part * v;
    p_sq = part.cwiseAbs2();
    pv_sq.noalias() += p_sq * v;
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    if (!empty[r])
      for (const auto& [key, channel] : m.odd)
        if (key < a.visible(block.queries[r]))
          o(r, channel) +=
              p(r, key) *
              decode(a.v.dtype, a.v.data,
                     a.v.offset(((block.batch * a.v.shape[1] + key) * a.v.shape[2] + block.head / (heads / a.v.shape[2])) * dim +
                                channel));
    const auto put = [&](const Array& to, auto&& values) {
      Eigen::Map<Eigen::ArrayXd>(to.data() + row_of(r) * dim, dim) = values;
    };
    put(g.pv_abs, pv_abs.row(r).transpose().array());
    put(g.pv_sq, pv_sq.row(r).transpose().array());
    put(g.spread, (p_v_sq.row(r).array() - o.row(r).array().square()).max(0.0).sqrt().transpose());
    if (spoiled[r]) put(g.o, Eigen::ArrayXd::Constant(dim, kNaN));
    else put(g.o, o.row(r).transpose().array());
  }
}

}  // namespace

void golden(const Op::Args& a, Op::Golden& g, const Rows& rows) {
  for (std::int64_t batch = 0; batch < a.q.shape[0]; ++batch)
    for (std::int64_t kv = 0; kv < a.k.shape[2]; ++kv) {
      const std::vector<Block> blocks = blocks_of(a, rows, batch, kv);
      if (blocks.empty()) continue;
      const KeysAndValues m = load_keys(a, g, batch, kv);
      // The long blocks of a causal mask first.
#pragma omp parallel for schedule(dynamic)
      for (std::size_t i = 0; i < blocks.size(); ++i) answer(a, g, m, blocks[blocks.size() - 1 - i]);
    }
}

}  // namespace assay::reference
