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

using Wide = long double;                               // for angles, as in reference/rope.cpp
constexpr std::int64_t kMostQueries = 64, kKeys = 512;  // queries per block, keys per chunk
constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

// One key/value head of one sequence.
struct KeysAndValues {
  Matrix k, v;                                             // [seq_k, head_dim]; v has zeros in place of inf and NaN
  std::vector<std::pair<std::int64_t, std::int64_t>> odd;  // (key, channel) of those
  Matrix size, far;                                        // rope: turn()'s outputs for k
};

// Rotates a row (rope) by its position.  Writes per channel: size, |a| + |b| of its pair plus the least normal of f32; far, size
// times |angle|; both 0 for channels that are not rotated.
template <class Row>
void turn(const Op::Args& a, std::int64_t position, Row&& x, Row&& size, Row&& far) {
  const std::int64_t turning = a.rope.rotary(x.size());
  const Wide at = static_cast<Wide>(a.rope.offset) + static_cast<Wide>(position);
  size.setZero(), far.setZero();
  for (std::int64_t i = 0; i < turning / 2; ++i) {
    const Wide angle =
        at * std::pow(static_cast<Wide>(a.rope.base_used()), -2 * static_cast<Wide>(i) / static_cast<Wide>(turning));
    const auto cosine = static_cast<double>(std::cos(angle)), sine = static_cast<double>(std::sin(angle));
    double &first = x[a.rope.first(i)], &second = x[a.rope.second(i, turning)];
    const double one = first * cosine - second * sine, other = first * sine + second * cosine;
    const double both = std::fabs(first) + std::fabs(second) + 0x1p-126;
    for (const std::int64_t c : {a.rope.first(i), a.rope.second(i, turning)})
      size[c] = both, far[c] = both * static_cast<double>(std::fabs(angle));
    first = one, second = other;
  }
}

struct Block {
  std::int64_t head;
  std::vector<std::int64_t> queries;  // of its sequence, sorted
};

// Loads K and V, and writes v_abs, the prefix sums of |v| over keys: first per chunk, then with the chunks before added.
KeysAndValues load_keys(const Op::Args& a, Op::Golden& g, const Sequence& sequence, std::int64_t kv) {
  const std::int64_t keys = sequence.keys, heads = a.k.shape[2], dim = a.k.shape[3], chunks = (keys + kKeys - 1) / kKeys;
  KeysAndValues m{Matrix(keys, dim), Matrix(keys, dim), {}, {}, {}};
  const bool turns = a.rope.rotary(dim) > 0;
  if (turns) m.size.resize(keys, dim), m.far.resize(keys, dim);
  Matrix before = Matrix::Zero(chunks + 1, dim);
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> odd(static_cast<std::size_t>(chunks));
  const auto at = [&](std::int64_t key) { return ((sequence.first_key + key) * heads + kv) * dim; };
#pragma omp parallel for schedule(static)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
    for (std::int64_t key = chunk * kKeys; key < std::min((chunk + 1) * kKeys, keys); ++key) {
      m.k.row(key) = load(a.k, at(key), dim).transpose();
      if (turns) turn(a, key, m.k.row(key), m.size.row(key), m.far.row(key));
      m.v.row(key) = load(a.v, at(key), dim).transpose();
      auto v = m.v.row(key);
      if (!v.allFinite())
        for (std::int64_t c = 0; c < dim; ++c)
          if (!std::isfinite(v[c])) odd[static_cast<std::size_t>(chunk)].emplace_back(key, c), v[c] = 0;
      before.row(chunk + 1) += v.cwiseAbs();
    }
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    before.row(chunk + 1) += before.row(chunk);
    const auto& found = odd[static_cast<std::size_t>(chunk)];
    m.odd.insert(m.odd.end(), found.begin(), found.end());
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    Eigen::ArrayXd sum = before.row(chunk).transpose().array();
    for (std::int64_t key = chunk * kKeys; key < std::min((chunk + 1) * kKeys, keys); ++key) {
      sum += m.v.row(key).transpose().array().abs();
      Eigen::Map<Eigen::ArrayXd>(g.v_abs.data() + at(key), dim) = sum;
    }
  }
  return m;
}

// The wanted rows of one key/value head, in blocks; blocks shrink if there would be fewer of them than threads.
std::vector<Block> blocks_of(const Op::Args& a, const Rows& rows, const Sequence& sequence, std::int64_t kv) {
  const std::int64_t heads = a.q.shape[2], group = heads / a.k.shape[2];
  std::vector<Block> blocks;
  for (std::int64_t head = kv * group; head < (kv + 1) * group; ++head) {
    std::vector<std::int64_t> wanted;
    for (std::int64_t query = 0; query < sequence.queries; ++query)
      if (rows.has((sequence.first_query + query) * heads + head)) wanted.push_back(query);
    const auto count = static_cast<std::int64_t>(wanted.size());
    const std::int64_t each = std::clamp<std::int64_t>(count * group / omp_get_max_threads(), 8, kMostQueries);
    for (std::int64_t first = 0; first < count; first += each)
      blocks.push_back({head, {wanted.begin() + first, wanted.begin() + std::min(first + each, count)}});
  }
  return blocks;
}

void answer(const Op::Args& a, Op::Golden& g, const Sequence& sequence, const KeysAndValues& m, const Block& block) {
  const std::int64_t heads = a.q.shape[2], dim = a.q.shape[3];
  const auto rows = static_cast<std::int64_t>(block.queries.size());
  const std::int64_t keys = a.visible(sequence, block.queries.back());  // no query of the block sees later keys
  const double scale = a.scale_used();
  const auto row_of = [&](std::int64_t r) { return (sequence.first_query + block.queries[r]) * heads + block.head; };
  const auto begin_of = [&](std::int64_t r) { return a.first_visible(sequence, block.queries[r]); };
  const auto end_of = [&](std::int64_t r) { return a.visible(sequence, block.queries[r]); };

  Matrix q(rows, dim), p(rows, keys);
  for (std::int64_t r = 0; r < rows; ++r) q.row(r) = load(a.q, row_of(r) * dim, dim).transpose();
  const bool turns = a.rope.rotary(dim) > 0;
  Matrix size(turns ? rows : 0, dim), far = size;
  for (std::int64_t r = 0; r < size.rows(); ++r) turn(a, a.place(sequence, block.queries[r]), q.row(r), size.row(r), far.row(r));
  const Matrix q_abs = q.cwiseAbs(), q_sq = q.cwiseAbs2();
  Matrix k, products;

  // Scores, their maximum, and the largest magnitudes among finite scores.
  Eigen::ArrayXd products_abs = Eigen::ArrayXd::Zero(rows), products_sq = products_abs, score_abs = products_abs,
                 turned = products_abs, turned_far = products_abs, turned_sum = products_abs;
  Eigen::ArrayXd score_max = Eigen::ArrayXd::Constant(rows, -kInf);
  // The keys of chunk [first, first + count) that a query sees: their first index in the chunk, and their count.
  struct Seen {
    std::int64_t begin, count;
  };
  const auto seen_of = [&](std::int64_t r, std::int64_t first, std::int64_t count) {
    const std::int64_t begin = std::clamp<std::int64_t>(begin_of(r) - first, 0, count);
    return Seen{begin, std::clamp<std::int64_t>(end_of(r) - first, begin, count) - begin};
  };
  for (std::int64_t first = 0; first < keys; first += kKeys) {
    const std::int64_t count = std::min(kKeys, keys - first);
    auto s = p.middleCols(first, count);
    s.noalias() = q * m.k.middleRows(first, count).transpose();
    const bool finite = std::isfinite(s.sum());
    const auto largest = [&](const auto& of, Eigen::ArrayXd& max) {
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto [begin, seen] = seen_of(r, first, count);
        if (seen == 0) continue;
        const auto row = of.row(r).segment(begin, seen).array();
        const auto scores = s.row(r).segment(begin, seen).array();
        max[r] = std::max(max[r], finite ? row.maxCoeff() : scores.isFinite().select(row, 0.0).maxCoeff());
      }
    };
    k = m.k.middleRows(first, count).cwiseAbs();
    products.noalias() = q_abs * k.transpose();
    largest(products, products_abs);
    k = k.cwiseAbs2();
    products.noalias() = q_sq * k.transpose();
    largest(products, products_sq);
    if (turns) {
      const auto key_size = m.size.middleRows(first, count), key_far = m.far.middleRows(first, count);
      products.noalias() = size * key_size.transpose();
      largest(products, turned);
      products.noalias() = size * key_far.transpose() + far * key_size.transpose();
      largest(products, turned_far);
      products.colwise() = size.rowwise().sum();
      products.rowwise() += key_size.rowwise().sum().transpose();
      largest(products, turned_sum);
    }
    s *= scale;
    if (a.softcap != 0) s = a.softcap * (s / a.softcap).array().tanh().matrix();
    largest(s.cwiseAbs(), score_abs);
    for (std::int64_t r = 0; r < rows; ++r)
      if (const auto [begin, seen] = seen_of(r, first, count); seen) {
        const double max = s.row(r).segment(begin, seen).maxCoeff<Eigen::PropagateNaN>();
        if (!std::isnan(score_max[r]) && !(max <= score_max[r])) score_max[r] = max;
      }
  }

  // Per chunk: p = exp(s - max) if visible, else 0; then P V and its magnitudes, divided by the sum at the end.
  const auto spoiled = [&](std::int64_t r) { return std::isnan(score_max[r]) || score_max[r] == kInf; };
  const auto empty = [&](std::int64_t r) { return score_max[r] == -kInf; };
  Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(rows), sum_sq = sum, below(kKeys);
  Matrix o = Matrix::Zero(rows, dim), pv_abs = o, pv_sq = o, p_v_sq = o, v, p_sq;
  for (std::int64_t first = 0; first < keys; first += kKeys) {
    const std::int64_t count = std::min(kKeys, keys - first);
    auto part = p.middleCols(first, count);
    for (std::int64_t r = 0; r < rows; ++r) {
      const Seen range = empty(r) || spoiled(r) ? Seen{0, 0} : seen_of(r, first, count);
      const std::int64_t seen = range.count;
      part.row(r).head(range.begin).setZero();
      part.row(r).tail(count - range.begin - seen).setZero();
      auto s = part.row(r).segment(range.begin, seen).array();
      below.head(seen) = s.transpose() - score_max[r];
      s = below.head(seen).exp().transpose();                      // Note: a separate statement, so that Eigen vectorises it
      s = (below.head(seen) < -700.0).transpose().select(0.0, s);  // Note: Eigen's exp returns 5e-309 where it underflows
      sum[r] += s.sum(), sum_sq[r] += s.square().sum();
    }
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
    const std::int64_t at = a.lse_at(sequence.first_query + block.queries[r], block.head);
    g.lse[at] = spoiled(r) ? kNaN : score_max[r] + std::log(sum[r]);
    g.score_max[at] = score_max[r];
    g.score_abs[at] = score_abs[r], g.products_abs[at] = products_abs[r], g.products_sq[at] = products_sq[r];
    g.turned[at] = turned[r], g.turned_far[at] = turned_far[r], g.turned_sum[at] = turned_sum[r];
    const double whole = empty(r) || spoiled(r) ? 1 : sum[r];
    g.p_sq[at] = sum_sq[r] / (whole * whole);
    o.row(r) /= whole, pv_abs.row(r) /= whole, p_v_sq.row(r) /= whole, pv_sq.row(r) /= whole * whole;
    if (!empty(r))
      for (const auto& [key, channel] : m.odd)
        if (key >= begin_of(r) && key < end_of(r)) {
          const std::int64_t kv_heads = a.k.shape[2], kv = block.head / (heads / kv_heads);
          const std::int64_t at_v = ((sequence.first_key + key) * kv_heads + kv) * dim + channel;
          o(r, channel) += p(r, key) / whole * decode(a.v.dtype, a.v.data, a.v.offset(at_v));
        }
    const auto put = [&](const Array& to, auto&& values) {
      Eigen::Map<Eigen::ArrayXd>(to.data() + row_of(r) * dim, dim) = values;
    };
    put(g.pv_abs, pv_abs.row(r).transpose().array());
    put(g.pv_sq, pv_sq.row(r).transpose().array());
    const auto spread = [&](double squares, double mean) { return attention_spread(squares, mean, end_of(r) - begin_of(r)); };
    put(g.spread, p_v_sq.row(r).binaryExpr(o.row(r), spread).transpose().array());
    if (spoiled(r)) put(g.o, Eigen::ArrayXd::Constant(dim, kNaN));
    else put(g.o, o.row(r).transpose().array());
  }
}

}  // namespace

void golden(const Op::Args& a, Op::Golden& g, const Rows& rows) {
  for (std::int64_t batch = 0; batch < a.q.shape[0]; ++batch)
    for (std::int64_t kv = 0; kv < a.k.shape[2]; ++kv) {
      const Sequence sequence = a.sequence(batch);
      const std::vector<Block> blocks = blocks_of(a, rows, sequence, kv);
      if (blocks.empty()) continue;
      const KeysAndValues m = load_keys(a, g, sequence, kv);
      // Last blocks first: they have the most keys under a causal mask.
#pragma omp parallel for schedule(dynamic)
      for (std::size_t i = 0; i < blocks.size(); ++i) answer(a, g, sequence, m, blocks[blocks.size() - 1 - i]);
    }
}

}  // namespace assay::reference
