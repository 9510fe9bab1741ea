// SPDX-License-Identifier: Apache-2.0
// Golden attention in f64: for a block of queries of one head, all scores Q K^T, the softmax of each row over its visible
// keys (a prefix), then P V.  The magnitudes are the same products of |Q|, |K|, Q^2, K^2 and of P, P^2, |V|, V^2.
// Memory: the scores of one block, at most kMostQueries x seq_k, for each thread.
#include "ops/attention_forward.hpp"

#include <Eigen/Core>
#include <limits>
#include <optional>
#include <vector>

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/attention.hpp"
#include "reference/formula/linked_formula.hpp"
#include "reference/formula/rotation.hpp"

namespace assay::reference {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Op = attention_forward;

using Wide = long double;                               // for angles, as in reference/rope.cpp
constexpr std::int64_t kMostQueries = 64, kKeys = 512;  // queries per block, keys per chunk
constexpr std::int64_t kThreads = 16;                   // get a block each; no count of real ones, on which bits would depend
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
  size.setZero();
  far.setZero();
  for (std::int64_t i = 0; i < turning / 2; ++i) {
    const Wide angle =
        at * std::pow(static_cast<Wide>(a.rope.base_used()), -2 * static_cast<Wide>(i) / static_cast<Wide>(turning));
    const auto cosine = static_cast<double>(std::cos(angle)), sine = static_cast<double>(std::sin(angle));
    double &first = x[a.rope.first(i)], &second = x[a.rope.second(i, turning)];
    const double one = first * cosine - second * sine, other = first * sine + second * cosine;
    const double both = std::fabs(first) + std::fabs(second) + 0x1p-126;
    for (const std::int64_t c : {a.rope.first(i), a.rope.second(i, turning)}) {
      size[c] = both;
      far[c] = both * static_cast<double>(std::fabs(angle));
    }
    first = one;
    second = other;
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
  if (turns) {
    m.size.resize(keys, dim);
    m.far.resize(keys, dim);
  }
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
          if (!std::isfinite(v[c])) {
            odd[static_cast<std::size_t>(chunk)].emplace_back(key, c);
            v[c] = 0;
          }
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

std::int64_t of_block(std::int64_t wanted) { return std::clamp<std::int64_t>(wanted / kThreads, 16, kMostQueries); }

// The wanted rows of one key/value head, in blocks; they shrink if there would be fewer than kThreads.
std::vector<Block> blocks_of(const Op::Args& a, const Rows& rows, const Sequence& sequence, std::int64_t kv) {
  const std::int64_t heads = a.q.shape[2], group = heads / a.k.shape[2];
  std::vector<Block> blocks;
  for (std::int64_t head = kv * group; head < (kv + 1) * group; ++head) {
    std::vector<std::int64_t> wanted;
    for (std::int64_t query = 0; query < sequence.queries; ++query)
      if (rows.has((sequence.first_query + query) * heads + head)) wanted.push_back(query);
    const auto count = static_cast<std::int64_t>(wanted.size());
    const std::int64_t each = of_block(count * group);
    for (std::int64_t first = 0; first < count; first += each)
      blocks.push_back({head, {wanted.begin() + first, wanted.begin() + std::min(first + each, count)}});
  }
  return blocks;
}

// The answer for one block of queries, in three passes over its chunks of keys.
class BlockAnswer {
 public:
  BlockAnswer(const Op::Args& a, const Sequence& sequence, const KeysAndValues& m, const Block& block)
      : a_(a),
        sequence_(sequence),
        m_(m),
        block_(block),
        rows_(static_cast<std::int64_t>(block.queries.size())),
        dim_(a.q.shape[3]),
        keys_(a.visible(sequence, block.queries.back())),
        p_(rows_, keys_) {}

  void answer(Op::Golden& g) {
    score();
    weigh();
    for (std::int64_t r = 0; r < rows_; ++r) store(g, r);
  }

 private:
  std::int64_t row_of(std::int64_t r) const { return (sequence_.first_query + block_.queries[r]) * a_.q.shape[2] + block_.head; }
  std::int64_t begin_of(std::int64_t r) const { return a_.first_visible(sequence_, block_.queries[r]); }
  std::int64_t end_of(std::int64_t r) const { return a_.visible(sequence_, block_.queries[r]); }
  bool spoiled(std::int64_t r) const { return std::isnan(score_max_[r]) || score_max_[r] == kInf; }
  bool empty(std::int64_t r) const { return score_max_[r] == -kInf; }

  // The keys of chunk [first, first + count) that a query sees: their first index in the chunk, and their count.
  struct Seen {
    std::int64_t begin, count;
  };
  Seen seen_of(std::int64_t r, std::int64_t first, std::int64_t count) const {
    const std::int64_t begin = std::clamp<std::int64_t>(begin_of(r) - first, 0, count);
    return Seen{begin, std::clamp<std::int64_t>(end_of(r) - first, begin, count) - begin};
  }

  // Scores into p_, their maximum, and the largest magnitudes among finite scores.
  void score() {
    Matrix q(rows_, dim_);
    for (std::int64_t r = 0; r < rows_; ++r) q.row(r) = load(a_.q, row_of(r) * dim_, dim_).transpose();
    const bool turns = a_.rope.rotary(dim_) > 0;
    Matrix size(turns ? rows_ : 0, dim_), far = size;
    for (std::int64_t r = 0; r < size.rows(); ++r)
      turn(a_, a_.place(sequence_, block_.queries[r]), q.row(r), size.row(r), far.row(r));
    const Matrix q_abs = q.cwiseAbs(), q_sq = q.cwiseAbs2();
    const double scale = a_.scale_used();
    Matrix k, products;
    for (std::int64_t first = 0; first < keys_; first += kKeys) {
      const std::int64_t count = std::min(kKeys, keys_ - first);
      auto s = p_.middleCols(first, count);
      s.noalias() = q * m_.k.middleRows(first, count).transpose();
      const bool finite = std::isfinite(s.sum());
      const auto largest = [&](const auto& of, Eigen::ArrayXd& max) {
        for (std::int64_t r = 0; r < rows_; ++r) {
          const auto [begin, seen] = seen_of(r, first, count);
          if (seen == 0) continue;
          const auto row = of.row(r).segment(begin, seen).array();
          const auto scores = s.row(r).segment(begin, seen).array();
          max[r] = std::max(max[r], finite ? row.maxCoeff() : scores.isFinite().select(row, 0.0).maxCoeff());
        }
      };
      k = m_.k.middleRows(first, count).cwiseAbs();
      products.noalias() = q_abs * k.transpose();
      largest(products, products_abs_);
      k = k.cwiseAbs2();
      products.noalias() = q_sq * k.transpose();
      largest(products, products_sq_);
      if (turns) {
        const auto key_size = m_.size.middleRows(first, count), key_far = m_.far.middleRows(first, count);
        products.noalias() = size * key_size.transpose();
        largest(products, rope_products_);
        products.noalias() = size * key_far.transpose() + far * key_size.transpose();
        largest(products, rope_products_angle_);
        products.colwise() = size.rowwise().sum();
        products.rowwise() += key_size.rowwise().sum().transpose();
        largest(products, rope_magnitudes_);
      }
      s *= scale;
      if (a_.softcap != 0) s = a_.softcap * (s / a_.softcap).array().tanh().matrix();
      largest(s.cwiseAbs(), score_abs_);
      for (std::int64_t r = 0; r < rows_; ++r)
        if (const auto [begin, seen] = seen_of(r, first, count); seen) {
          const double max = s.row(r).segment(begin, seen).maxCoeff<Eigen::PropagateNaN>();
          if (!std::isnan(score_max_[r]) && !(max <= score_max_[r])) score_max_[r] = max;
        }
    }
  }

  // Per chunk: p = exp(s - max) if visible, else 0; then P V and its magnitudes, to be divided by the sum.
  void weigh() {
    Eigen::ArrayXd below(kKeys);
    Matrix v, p_sq;
    for (std::int64_t first = 0; first < keys_; first += kKeys) {
      const std::int64_t count = std::min(kKeys, keys_ - first);
      auto part = p_.middleCols(first, count);
      for (std::int64_t r = 0; r < rows_; ++r) {
        const Seen range = empty(r) || spoiled(r) ? Seen{0, 0} : seen_of(r, first, count);
        const std::int64_t seen = range.count;
        part.row(r).head(range.begin).setZero();
        part.row(r).tail(count - range.begin - seen).setZero();
        auto s = part.row(r).segment(range.begin, seen).array();
        below.head(seen) = s.transpose() - score_max_[r];
        s = below.head(seen).exp().transpose();                      // Note: a separate statement, so that Eigen vectorises it
        s = (below.head(seen) < -700.0).transpose().select(0.0, s);  // Note: Eigen's exp returns 5e-309 where it underflows
        sum_[r] += s.sum();
        sum_sq_[r] += s.square().sum();
      }
      const auto values = m_.v.middleRows(first, count);
      o_.noalias() += part * values;
      v = values.cwiseAbs();
      pv_abs_.noalias() += part * v;
      v = v.cwiseAbs2();
      p_v_sq_.noalias() += part * v;
      p_sq = part.cwiseAbs2();
      pv_sq_.noalias() += p_sq * v;
    }
  }

  void store(Op::Golden& g, std::int64_t r) {
    const std::int64_t at = a_.lse_at(sequence_.first_query + block_.queries[r], block_.head);
    g.lse[at] = spoiled(r) ? kNaN : score_max_[r] + std::log(sum_[r]);
    g.score_max[at] = score_max_[r];
    g.score_abs[at] = score_abs_[r];
    g.products_abs[at] = products_abs_[r];
    g.products_sq[at] = products_sq_[r];
    g.rope_products[at] = rope_products_[r];
    g.rope_products_angle[at] = rope_products_angle_[r];
    g.rope_magnitudes[at] = rope_magnitudes_[r];
    const double whole = empty(r) || spoiled(r) ? 1 : sum_[r];
    g.p_sq[at] = sum_sq_[r] / (whole * whole);
    o_.row(r) /= whole;
    pv_abs_.row(r) /= whole;
    p_v_sq_.row(r) /= whole;
    pv_sq_.row(r) /= whole * whole;
    if (!empty(r)) add_odd(r, whole);
    const auto put = [&](const Array& to, auto&& values) {
      Eigen::Map<Eigen::ArrayXd>(to.data() + row_of(r) * dim_, dim_) = values;
    };
    put(g.pv_abs, pv_abs_.row(r).transpose().array());
    put(g.pv_sq, pv_sq_.row(r).transpose().array());
    const auto spread = [&](double squares, double mean) { return attention_spread(squares, mean, end_of(r) - begin_of(r)); };
    put(g.spread, p_v_sq_.row(r).binaryExpr(o_.row(r), spread).transpose().array());
    if (spoiled(r)) put(g.o, Eigen::ArrayXd::Constant(dim_, kNaN));
    else put(g.o, o_.row(r).transpose().array());
  }
  // The infinities and NaNs of V that the query sees, which stood as zeros in the product.
  void add_odd(std::int64_t r, double whole) {
    const std::int64_t kv_heads = a_.k.shape[2], kv = block_.head / (a_.q.shape[2] / kv_heads);
    for (const auto& [key, channel] : m_.odd) {
      if (key < begin_of(r) || key >= end_of(r)) continue;
      const std::int64_t at_v = ((sequence_.first_key + key) * kv_heads + kv) * dim_ + channel;
      o_(r, channel) += p_(r, key) / whole * decode(a_.v.dtype, a_.v.data, a_.v.offset(at_v));
    }
  }

  const Op::Args& a_;
  const Sequence& sequence_;
  const KeysAndValues& m_;
  const Block& block_;
  std::int64_t rows_, dim_, keys_;  // no query of the block sees later keys
  Matrix p_;                        // scores, then exp(s - max): [rows, keys]
  // By row: over its finite scores, the largest of each.
  Eigen::ArrayXd products_abs_ = Eigen::ArrayXd::Zero(rows_), products_sq_ = products_abs_, score_abs_ = products_abs_,
                 rope_products_ = products_abs_, rope_products_angle_ = products_abs_, rope_magnitudes_ = products_abs_;
  Eigen::ArrayXd score_max_ = Eigen::ArrayXd::Constant(rows_, -kInf);
  Eigen::ArrayXd sum_ = Eigen::ArrayXd::Zero(rows_), sum_sq_ = sum_;
  Matrix o_ = Matrix::Zero(rows_, dim_), pv_abs_ = o_, pv_sq_ = o_, p_v_sq_ = o_;  // [rows, head_dim]
};

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
      for (std::size_t i = 0; i < blocks.size(); ++i) BlockAnswer(a, sequence, m, blocks[blocks.size() - 1 - i]).answer(g);
    }
}

// The keys and values of one head, twice if they are rotated; each thread has the scores of a block of queries, and a chunk of
// keys in two forms.
double scratch(const attention_forward::Args& a, const Rows& rows) {
  const std::int64_t dim = a.q.shape[3], group = a.q.shape[2] / std::max<std::int64_t>(1, a.k.shape[2]);
  const double forms = a.rope.rotary(dim) > 0 ? 4 : 2;
  double most = 0;
  for (std::int64_t batch = 0; batch < (a.cu_seqlens_q.data ? a.q.shape[0] : std::min<std::int64_t>(1, a.q.shape[0])); ++batch) {
    const Sequence s = a.sequence(batch);
    const std::int64_t wanted = std::min(rows.count(), s.queries * group), each = std::min(of_block(wanted), wanted);
    const double blocks = static_cast<double>(threads_on((wanted + each - 1) / std::max<std::int64_t>(1, each))),
                 keys = static_cast<double>(s.keys);
    const double chunk = static_cast<double>(std::min(kKeys, s.keys) * (2 * dim + each) + 8 * each * dim);
    most = std::max(most, static_cast<double>(wanted) + forms * keys * static_cast<double>(dim) +
                              blocks * (static_cast<double>(each) * keys + chunk));
  }
  return bytes_of(most);
}

static const LinkedGolden<attention_forward> linked_attention_forward(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {
namespace {

using Op = assay::attention_forward;

// The channels of x, rotated in pairs by the angles of its tokens' places.
Array rotated(Formula& f, const AttentionRope& rope, const Array& x, const Array& place) {
  const Axis head_dim("head_dim");
  const auto turning = static_cast<double>(rope.rotary(f.extent(head_dim)));
  if (turning == 0) return x;
  const ChannelPairs pairs(f, head_dim, turning, rope.pairs == AttentionRope::Pairs::half);
  const Turn turn = pairs.by_base(place + rope.offset, rope.base_used());
  return step("rotated", pairs.rotated(x, turn), Stored::where_rotated);
}

void write(const Op::Args& a, Formula& f) {
  const Attention places(f, a.packed, static_cast<Attention::Mask>(a.mask), a.window);
  const Array q = rotated(f, a.rope, f.in("q"), places.place_of_query());
  const Array k = rotated(f, a.rope, of_shared_heads(f, f.in("k")), places.place_of_key());
  const Array products = sum(Axis("head_dim"))(q * k) * a.scale_used();
  const Array scores = places.masked(step("scores", a.softcap == 0 ? products : a.softcap * tanh(products / a.softcap)));
  put_out_attention(f, places.keys(), scores, of_shared_heads(f, f.in("v")), a.softcap != 0);
}

const LinkedFormula<assay::attention_forward> formula_of_attention_forward("attention_forward", write);

}  // namespace
}  // namespace assay::formula
