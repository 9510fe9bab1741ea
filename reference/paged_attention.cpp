// SPDX-License-Identifier: Apache-2.0
// Golden paged attention in f64: for each key/value head of a sequence, gathers its keys and values from the pages; then, per
// query, the scores q K^T, their softmax over the visible keys (a prefix), and p V.  The magnitudes are the same products of
// |q|, |K|, q^2, K^2 and of p, p^2, |V|, V^2.
#include "ops/paged_attention.hpp"

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/attention.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Op = paged_attention;

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

// One key/value head of one sequence.
struct KeysAndValues {
  Matrix k, v;                                             // [length, head_dim]; v has zeros in place of inf and NaN
  std::vector<std::pair<std::int64_t, std::int64_t>> odd;  // (key, channel) of those
  Matrix special;                                          // [1, odd.size()], their values
};

KeysAndValues gather(const Op::Args& a, std::int64_t batch, std::int64_t kv) {
  const PageTable table = a.table();
  const std::int64_t length = table.length(batch), kv_heads = a.k_pool.shape[2], dim = a.k_pool.shape[3];
  KeysAndValues m{Matrix(length, dim), Matrix(length, dim), {}, {}};
  std::vector<double> special;
  for (std::int64_t key = 0; key < length; ++key) {
    const std::int64_t at = (table.row(batch, key) * kv_heads + kv) * dim;
    m.k.row(key) = load(a.k_pool, at, dim).transpose();
    m.v.row(key) = load(a.v_pool, at, dim).transpose();
    auto v = m.v.row(key);
    if (v.allFinite()) continue;
    for (std::int64_t c = 0; c < dim; ++c)
      if (!std::isfinite(v[c])) {
        m.odd.emplace_back(key, c);
        special.push_back(v[c]);
        v[c] = 0;
      }
  }
  m.special = Eigen::Map<Matrix>(special.data(), 1, static_cast<std::int64_t>(special.size()));
  return m;
}

// Computes one query of one head.
void answer(const Op::Args& a, Op::Golden& g, const KeysAndValues& m, std::int64_t row) {
  const std::int64_t queries = a.q.shape[1], heads = a.q.shape[2], dim = a.q.shape[3];
  const std::int64_t head = row % heads, query = row / heads % queries, batch = row / heads / queries;
  const std::int64_t at = (batch * heads + head) * queries + query, keys = a.visible(m.k.rows(), query);
  const auto k = m.k.topRows(keys), v = m.v.topRows(keys);
  const Eigen::VectorXd q = load(a.q, row * dim, dim).matrix();

  // Scores, their maximum, and the largest magnitudes among finite scores.
  Eigen::ArrayXd s = (k * q).array() * a.scale_used();
  const Eigen::ArrayXd products_abs = (k.cwiseAbs() * q.cwiseAbs()).array();
  const Eigen::ArrayXd products_sq = (k.cwiseAbs2() * q.cwiseAbs2()).array();
  const auto largest = [&](const Eigen::ArrayXd& of) { return keys ? s.isFinite().select(of, 0.0).maxCoeff() : 0; };
  const double max = keys ? s.maxCoeff<Eigen::PropagateNaN>() : -kInf;
  const bool spoiled = std::isnan(max) || max == kInf, empty = max == -kInf;
  g.score_max[at] = max;
  g.score_abs[at] = largest(s.abs());
  g.products_abs[at] = largest(products_abs);
  g.products_sq[at] = largest(products_sq);

  // p = exp(s - L); all zeros if no score is finite.
  Eigen::ArrayXd p = Eigen::ArrayXd::Zero(keys);
  double sum = 0;
  if (!spoiled && !empty) {
    p = (s - max).exp();
    p = (s - max < -700.0).select(0.0, p);
    sum = p.sum();
    p /= sum;
  }
  g.lse[at] = spoiled ? kNaN : max + std::log(sum);
  g.p_sq[at] = p.square().sum();
  Eigen::ArrayXd o = (v.transpose() * p.matrix()).array();
  const Eigen::ArrayXd p_v_sq = (v.cwiseAbs2().transpose() * p.matrix()).array();
  const auto put = [&](const Array& to, const Eigen::ArrayXd& values) {
    Eigen::Map<Eigen::ArrayXd>(to.data() + row * dim, dim) = values;
  };
  put(g.pv_abs, (v.cwiseAbs().transpose() * p.matrix()).array());
  put(g.pv_sq, (v.cwiseAbs2().transpose() * p.square().matrix()).array());
  put(g.spread, p_v_sq.binaryExpr(o, [&](double squares, double mean) { return attention_spread(squares, mean, keys); }));
  put(g.v_abs, v.cwiseAbs().colwise().sum().transpose().array());
  if (!empty)
    for (std::size_t i = 0; i < m.odd.size(); ++i)
      if (const auto [key, channel] = m.odd[i]; key < keys) o[channel] += p[key] * m.special(0, static_cast<std::int64_t>(i));
  put(g.o, spoiled ? Eigen::ArrayXd::Constant(dim, kNaN) : o);
}

}  // namespace

void golden(const Op::Args& a, Op::Golden& g, const Rows& rows) {
  const std::int64_t queries = a.q.shape[1], heads = a.q.shape[2], kv_heads = a.k_pool.shape[2], group = heads / kv_heads;
  const std::int64_t blocks = a.q.shape[0] * kv_heads;
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t batch = block / kv_heads, kv = block % kv_heads;
    std::vector<std::int64_t> wanted;
    for (std::int64_t query = 0; query < queries; ++query)
      for (std::int64_t head = kv * group; head < (kv + 1) * group; ++head)
        if (const std::int64_t row = (batch * queries + query) * heads + head; rows.has(row)) wanted.push_back(row);
    if (wanted.empty()) continue;
    const KeysAndValues m = gather(a, batch, kv);
    for (const std::int64_t row : wanted) answer(a, g, m, row);
  }
}

// Each thread has the keys and values of one head of the longest sequence, and six figures of each key of a query.
double scratch(const paged_attention::Args& a, const Rows& rows) {
  const std::int64_t dim = a.k_pool.shape[3], blocks = a.q.shape[0] * a.k_pool.shape[2];
  const auto most = static_cast<double>(a.page_table.shape[1] * a.k_pool.shape[1]);  // where the lengths are not known yet
  double longest = 0;
  for (std::int64_t batch = 0; batch < a.q.shape[0]; ++batch)
    longest = std::max(longest, a.lengths.data ? static_cast<double>(a.table().length(batch)) : most);
  return bytes_of(static_cast<double>(threads_on(std::min(blocks, rows.count()))) * longest * (2 * static_cast<double>(dim) + 6));
}

static const LinkedGolden<paged_attention> linked_paged_attention(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::paged_attention::Args& a, Formula& f) {
  const Axis table("max_pages"), slots("page_size"), seq_q("seq_q");
  const Array length = f.in("lengths"), first_key = f.index(table) * static_cast<double>(f.extent(slots));
  const Array page = where(first_key < length, f.in("page_table"), 0);  // other entries may hold anything
  const auto cached = [&](const char* pool) { return of_shared_heads(f, take(f.in(pool), Axis("pages"), page)); };
  const Array products = sum(Axis("head_dim"))(f.in("q") * cached("k_pool")) * a.scale_used();
  const Array key = first_key + f.index(slots), query = length - static_cast<double>(f.extent(seq_q)) + f.index(seq_q);
  const Array scores = where(key <= query, step("scores", products), -INFINITY);
  put_out_attention(f, {table, slots}, scores, cached("v_pool"), false);
}

static const LinkedFormula<assay::paged_attention> formula_of_paged_attention("paged_attention", write);

}  // namespace assay::formula
