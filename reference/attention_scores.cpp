// SPDX-License-Identifier: Apache-2.0
// Golden attention scores in f64: for a block of queries of one head, Q K^T over the keys that any of them sees, then the
// softmax of each row over its visible keys.  The magnitudes are the products of |Q|, |K| and of Q^2, K^2.
#include "ops/attention_scores.hpp"

#include <Eigen/Core>
#include <vector>

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/attention.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

namespace {

using Op = attention_scores;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::int64_t kMostQueries = 96, kKeys = 256;  // queries per block, keys per chunk
constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

// Queries of one head; `first` is the row of P of query 0.
struct Block {
  std::int64_t batch, head, first;
  std::vector<std::int64_t> queries;  // sorted
};

std::vector<Block> blocks_of(const Op::Args& a, const Rows& rows) {
  const std::int64_t queries = a.q.shape[1], heads = a.q.shape[2];
  std::vector<Block> blocks;
  for (std::int64_t i = 0; i < rows.count(); ++i) {
    const std::int64_t row = rows[i], query = row % queries, first = row - query;
    if (blocks.empty() || blocks.back().first != first || std::ssize(blocks.back().queries) == kMostQueries)
      blocks.push_back({first / queries / heads, first / queries % heads, first, {}});
    blocks.back().queries.push_back(query);
  }
  return blocks;
}

// The largest magnitude among finite scores.
template <class Scores, class Magnitudes>
double largest(const Scores& s, const Magnitudes& m, bool all_finite) {
  return all_finite ? m.maxCoeff() : s.isFinite().select(m, 0.0).maxCoeff();
}

// Writes p and log_p of a row from its visible scores; returns log_rest.
template <class Scores>
double softmax_row(const Scores& s, double* p_row, double* log_p_row) {
  const std::int64_t n = s.size();
  Eigen::Map<Eigen::ArrayXd> p(p_row, n), log_p(log_p_row, n);
  const double max = s.template maxCoeff<Eigen::PropagateNaN>();
  if (std::isnan(max) || max == kInf) {
    p = log_p = kNaN;
    return -kInf;
  }
  if (max == -kInf) {
    p = 0;
    log_p = -kInf;
    return -kInf;
  }
  Eigen::Index at = 0;  // Note: a loop, since Eigen's maxCoeff(&index) is several times slower than maxCoeff()
  while (s[at] != max) ++at;
  log_p = s.transpose() - max;
  p = log_p.exp();  // Note: a separate statement, so that Eigen vectorises it; it returns 5e-309 where exp underflows
  p = (log_p < -700.0).select(0.0, p);
  p[at] = 0;
  const double rest = p.sum(), log_sum = std::log1p(rest);
  p[at] = 1;
  p /= 1 + rest;
  log_p -= log_sum;
  if (rest > 0) return std::log(rest) - log_sum;
  // All other exps underflowed: an upper bound, n times the second largest term.
  double second = -kInf;
  for (std::int64_t k = 0; k < n; ++k)
    if (k != at) second = std::max(second, s[k]);
  return second - max + std::log(static_cast<double>(n));
}

// Buffers that a thread reuses for every block: allocating them costs more than the computation.
struct Workspace {
  Matrix q, s, products, k;
};

void answer(const Op::Args& a, Op::Golden& g, const Block& block, Workspace& w) {
  const std::int64_t queries = a.q.shape[1], heads = a.q.shape[2], dim = a.q.shape[3], all = a.k.shape[1];
  const std::int64_t kv_heads = a.k.shape[2], kv = block.head / (heads / kv_heads), rows = std::ssize(block.queries);
  const std::int64_t keys = a.visible(block.queries.back());  // no query of the block sees later keys
  const double scale = a.scale_used();

  auto& [q, s, products, k] = w;
  q.resize(rows, dim);
  s.resize(rows, keys);
  for (std::int64_t r = 0; r < rows; ++r)
    q.row(r) = load(a.q, ((block.batch * queries + block.queries[r]) * heads + block.head) * dim, dim).matrix().transpose();
  const Matrix q_abs = q.cwiseAbs(), q_sq = q.cwiseAbs2();
  const bool q_finite = q.allFinite();
  q *= scale;
  Eigen::ArrayXd products_abs = Eigen::ArrayXd::Zero(rows), products_sq = products_abs, score_abs = products_abs;

  // Scores, and the largest magnitudes.
  for (std::int64_t first = 0; first < keys; first += kKeys) {
    const std::int64_t count = std::min(kKeys, keys - first);
    k.resize(count, dim);
    for (std::int64_t j = 0; j < count; ++j)
      k.row(j) = load(a.k, ((block.batch * all + first + j) * kv_heads + kv) * dim, dim).matrix().transpose();
    const bool finite = q_finite && k.allFinite();
    auto part = s.middleCols(first, count);
    part.noalias() = q * k.transpose();
    const auto seen = [&](std::int64_t r) { return std::clamp<std::int64_t>(a.visible(block.queries[r]) - first, 0, count); };
    const auto keep_largest = [&](Eigen::ArrayXd& of, const auto& m) {
      for (std::int64_t r = 0; r < rows; ++r)
        if (const std::int64_t n = seen(r))
          of[r] = std::max(of[r], largest(part.row(r).head(n).array(), m.row(r).head(n).array(), finite));
    };
    keep_largest(score_abs, part.cwiseAbs());
    k = k.cwiseAbs();
    products.noalias() = q_abs * k.transpose();
    keep_largest(products_abs, products);
    k = k.cwiseAbs2();
    products.noalias() = q_sq * k.transpose();
    keep_largest(products_sq, products);
  }

  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t row = block.first + block.queries[r], seen = a.visible(block.queries[r]);
    double* const p = g.p.data() + row * all;
    double* const log_p = g.log_p.data() + row * all;
    g.log_rest[row] = seen ? softmax_row(s.row(r).head(seen).array(), p, log_p) : -kInf;
    std::fill(p + seen, p + all, 0.0);
    std::fill(log_p + seen, log_p + all, -kInf);
    g.score_abs[row] = score_abs[r];
    g.products_abs[row] = products_abs[r];
    g.products_sq[row] = products_sq[r];
  }
}

}  // namespace

void golden(const Op::Args& a, Op::Golden& g, const Rows& rows) {
  if (a.p.size() == 0) return;
  const std::vector<Block> blocks = blocks_of(a, rows);
#pragma omp parallel
  {
    Workspace w;
#pragma omp for schedule(dynamic)
    for (std::int64_t i = std::ssize(blocks) - 1; i >= 0; --i) answer(a, g, blocks[static_cast<std::size_t>(i)], w);
  }
}

// The queries of all blocks; each thread has the scores of a block and its queries in three forms, and a chunk of keys.
double scratch(const attention_scores::Args& a, const Rows& rows) {
  const auto keys = static_cast<double>(a.k.shape[1]), dim = static_cast<double>(a.q.shape[3]);
  const auto queries = static_cast<double>(std::min(kMostQueries, a.q.shape[1]));
  const double blocks = static_cast<double>(rows.count()) / std::max(1.0, queries);
  const auto threads = static_cast<double>(threads_on(static_cast<std::int64_t>(blocks) + 1));
  return bytes_of(static_cast<double>(rows.count()) + threads * (queries * (keys + 3 * dim + kKeys) + kKeys * dim));
}

static const LinkedGolden<attention_scores> linked_attention_scores(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::attention_scores::Args& a, Formula& f) {
  const Attention places(f, false, static_cast<Attention::Mask>(a.mask), 0);
  const Array scores = step("scores", sum(Axis("head_dim"))(f.in("q") * of_shared_heads(f, f.in("k"))) * a.scale_used());
  const Array weights = softmax_or_zero(places.keys())(places.masked(scores));
  f.out("p", places.seen() ? where(*places.seen(), weights, 0) : weights);
}

static const LinkedFormula<assay::attention_scores> formula_of_attention_scores("attention_scores", write);

}  // namespace assay::formula
