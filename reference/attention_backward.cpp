// SPDX-License-Identifier: Apache-2.0
// Golden gradients of attention in f64.  dQ: each block of queries loops over all keys in chunks; dK and dV: each block of keys
// loops over all queries of its heads in chunks.  L is an input, so chunks are independent.  The magnitudes are the same products
// of |.| and of squares.  Matrix products run over the finite elements; inf and NaN of visible pairs are added one by one.
#include "ops/attention_backward.hpp"

#include <Eigen/Core>
#include <vector>

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/attention.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Op = attention_backward;
using Places = std::vector<std::int64_t>;  // positions of one sequence, sorted

constexpr std::int64_t kMostOfBlock = 64, kChunk = 256;
constexpr std::int64_t kThreads = 16;  // get a block each; no count of real ones, on which the bits would depend

// Rows of one head of a [batch, seq, heads, head_dim] tensor.
struct Operand {
  Matrix raw, abs, sq;  // abs and sq have zeros in place of inf and NaN
  bool all_finite = true;
  Operand(const Tensor& t, std::int64_t batch, std::int64_t head, const Places& places) {
    const std::int64_t seq = t.shape[1], heads = t.shape[2], dim = t.shape[3];
    raw.resize(static_cast<std::int64_t>(places.size()), dim);
    for (std::int64_t r = 0; r < raw.rows(); ++r)
      raw.row(r) = load(t, ((batch * seq + places[static_cast<std::size_t>(r)]) * heads + head) * dim, dim).transpose();
    all_finite = raw.allFinite();
    abs = raw.cwiseAbs();
    if (!all_finite) abs = abs.unaryExpr([](double v) { return std::isfinite(v) ? v : 0; });
    sq = abs.cwiseAbs2();
  }
  Matrix finite() const {
    return all_finite ? raw : raw.unaryExpr([](double v) { return std::isfinite(v) ? v : 0; });
  }
};

// Some queries of one head, with their dO, L and D.
struct Queries {
  Places places;
  Operand q, d_o;
  Eigen::ArrayXd lse, d, d_abs, d_sq;  // D and its magnitudes
  Queries(const Op::Args& a, std::int64_t batch, std::int64_t head, Places at)
      : places(std::move(at)), q(a.q, batch, head, places), d_o(a.d_o, batch, head, places) {
    const Operand o(a.o, batch, head, places);
    d = d_o.raw.cwiseProduct(o.raw).rowwise().sum();
    d_abs = d_o.abs.cwiseProduct(o.abs).rowwise().sum();
    d_sq = d_o.sq.cwiseProduct(o.sq).rowwise().sum();
    lse.resize(static_cast<std::int64_t>(places.size()));
    for (std::int64_t r = 0; r < lse.size(); ++r)
      lse[r] = a.lse.at((batch * a.q.shape[2] + head) * a.q.shape[1] + places[static_cast<std::size_t>(r)]);
  }
};
struct Keys {
  Places places;
  Operand k, v;
  Keys(const Op::Args& a, std::int64_t batch, std::int64_t kv, Places at)
      : places(std::move(at)), k(a.k, batch, kv, places), v(a.v, batch, kv, places) {}
};

// All pairs of some queries (rows) and some keys (columns); hidden pairs are zero.
struct AllPairs {
  Matrix counts, p, ds;
  Matrix score, products_abs, products_sq, gradient, gradient_abs, gradient_sq;  // see Op::Pairs

  AllPairs(const Op::Args& a, const Queries& queries, const Keys& keys) {
    const double scale = a.scale_used();
    score.noalias() = queries.q.raw * keys.k.raw.transpose();
    products_abs.noalias() = queries.q.abs * keys.k.abs.transpose();
    products_sq.noalias() = queries.q.sq * keys.k.sq.transpose();
    gradient.noalias() = queries.d_o.raw * keys.v.raw.transpose();
    gradient_abs.noalias() = queries.d_o.abs * keys.v.abs.transpose();
    gradient_sq.noalias() = queries.d_o.sq * keys.v.sq.transpose();
    counts.resizeLike(score);
    p.resizeLike(score);
    ds.resizeLike(score);
    for (std::int64_t r = 0; r < score.rows(); ++r) {
      const double lse = queries.lse[r], d = queries.d[r];
      const std::int64_t visible = lse == -std::numeric_limits<double>::infinity() ? 0 : a.visible(queries.places[r]);
      for (std::int64_t c = 0; c < score.cols(); ++c) {
        if (keys.places[c] >= visible) {
          counts(r, c) = p(r, c) = ds(r, c) = score(r, c) = products_abs(r, c) = products_sq(r, c) = 0;
          gradient(r, c) = gradient_abs(r, c) = gradient_sq(r, c) = 0;
          continue;
        }
        const double s = scale * score(r, c), g = gradient(r, c);
        counts(r, c) = 1;
        p(r, c) = s - lse < -700 ? 0 : std::exp(s - lse);  // Note: exactly 0, so that its products are 0
        ds(r, c) = p(r, c) * (g - d);
        const auto largest = [](double x, double y) {
          const double m = std::max(std::fabs(x), std::fabs(y));
          return std::isfinite(x) && std::isfinite(y) ? m : 0;
        };
        score(r, c) = largest(s, lse);
        gradient(r, c) = largest(g, d);
        gradient_abs(r, c) = std::max(gradient_abs(r, c), queries.d_abs[r]);
        gradient_sq(r, c) = std::max(gradient_sq(r, c), queries.d_sq[r]);
      }
    }
  }
};

// The gradient of a block of queries or keys, with its magnitudes.
struct Sum {
  Matrix value, abs, sq, weighted, operand;
  Sum(std::int64_t rows, std::int64_t dim) {
    for (Matrix* m : {&value, &abs, &sq, &weighted, &operand}) m->setZero(rows, dim);
  }
  // Adds w x; w, p and counts: [rows of the block, rows of x].
  template <class W, class P, class C>
  void add(const W& w, const P& p, const C& counts, const Operand& x) {
    value.noalias() += w * x.finite();
    if (!x.all_finite)
      for (std::int64_t c = 0; c < x.raw.rows(); ++c)
        for (std::int64_t i = 0; i < x.raw.cols(); ++i)
          if (!std::isfinite(x.raw(c, i)))
            for (std::int64_t r = 0; r < value.rows(); ++r)
              if (counts(r, c) != 0) value(r, i) += w(r, c) * x.raw(c, i);
    abs.noalias() += w.cwiseAbs() * x.abs;
    sq.noalias() += w.cwiseAbs2() * x.sq;
    weighted.noalias() += p * x.abs;
    operand.noalias() += counts * x.abs;
  }
  void put(const Array& to, const Op::Sums& sums, std::int64_t r, std::int64_t at, double scale) const {
    const auto dim = value.cols();
    const auto write = [&](const Array& into, const auto& row) { Eigen::Map<Eigen::RowVectorXd>(into.data() + at, dim) = row; };
    write(to, scale * value.row(r));
    write(sums.abs, abs.row(r));
    write(sums.sq, sq.row(r));
    write(sums.weighted, weighted.row(r));
    write(sums.operand, operand.row(r));
  }
};

// The largest magnitudes among the pairs of each query (or key) of a block.
struct Largest {
  Eigen::ArrayXd score, products_abs, products_sq, gradient, gradient_abs, gradient_sq;
  explicit Largest(std::int64_t rows) {
    for (auto* m : {&score, &products_abs, &products_sq, &gradient, &gradient_abs, &gradient_sq}) m->setZero(rows);
  }
  template <class Take>
  void add(const AllPairs& pairs, Take&& take) {
    if (pairs.score.size() == 0) return;
    const auto one = [&](Eigen::ArrayXd& to, const Matrix& of) { to = to.max(take(of)); };
    one(score, pairs.score);
    one(products_abs, pairs.products_abs);
    one(products_sq, pairs.products_sq);
    one(gradient, pairs.gradient);
    one(gradient_abs, pairs.gradient_abs);
    one(gradient_sq, pairs.gradient_sq);
  }
  void put(const Op::Pairs& to, std::int64_t r, std::int64_t at) const {
    to.score[at] = score[r];
    to.products_abs[at] = products_abs[r];
    to.products_sq[at] = products_sq[r];
    to.gradient[at] = gradient[r];
    to.gradient_abs[at] = gradient_abs[r];
    to.gradient_sq[at] = gradient_sq[r];
  }
};

Places chunk_of(std::int64_t first, std::int64_t end) {
  Places places;
  for (std::int64_t i = first; i < std::min(first + kChunk, end); ++i) places.push_back(i);
  return places;
}

void answer_queries(const Op::Args& a, Op::Golden& g, std::int64_t batch, std::int64_t head, const Places& wanted) {
  const std::int64_t seq = a.q.shape[1], heads = a.q.shape[2], dim = a.q.shape[3], kv = head / (heads / a.k.shape[2]);
  const auto rows = static_cast<std::int64_t>(wanted.size());
  const Queries queries(a, batch, head, wanted);
  Sum dq(rows, dim);
  Largest largest(rows);
  const std::int64_t end = a.visible(wanted.back());  // no query of the block sees later keys
  for (std::int64_t first = 0; first < end; first += kChunk) {
    const Keys keys(a, batch, kv, chunk_of(first, end));
    const AllPairs pairs(a, queries, keys);
    largest.add(pairs, [](const Matrix& m) { return m.rowwise().maxCoeff().array().eval(); });
    dq.add(pairs.ds, pairs.p, pairs.counts, keys.k);
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    dq.put(g.dq, g.of_dq, r, ((batch * seq + wanted[r]) * heads + head) * dim, a.scale_used());
    largest.put(g.queries, r, (batch * heads + head) * seq + wanted[r]);
  }
}

void answer_keys(const Op::Args& a, Op::Golden& g, std::int64_t batch, std::int64_t kv, const Places& wanted) {
  const std::int64_t seq = a.k.shape[1], kv_heads = a.k.shape[2], dim = a.q.shape[3], group = a.q.shape[2] / kv_heads;
  const auto rows = static_cast<std::int64_t>(wanted.size());
  const Keys keys(a, batch, kv, wanted);
  Sum dk(rows, dim), dv(rows, dim);
  Largest largest(rows);
  for (std::int64_t head = kv * group; head < (kv + 1) * group; ++head)
    for (std::int64_t first = a.seen_from(wanted.front()); first < a.q.shape[1]; first += kChunk) {
      const Queries queries(a, batch, head, chunk_of(first, a.q.shape[1]));
      const AllPairs pairs(a, queries, keys);
      largest.add(pairs, [](const Matrix& m) { return m.colwise().maxCoeff().transpose().array().eval(); });
      const Matrix counts = pairs.counts.transpose(), p = pairs.p.transpose(), ds = pairs.ds.transpose();
      dk.add(ds, p, counts, queries.q);
      dv.add(p, p, counts, queries.d_o);
    }
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t at = ((batch * seq + wanted[r]) * kv_heads + kv) * dim;
    dk.put(g.dk, g.of_dk, r, at, a.scale_used());
    dv.put(g.dv, g.of_dv, r, at, 1);
    largest.put(g.keys, r, (batch * kv_heads + kv) * seq + wanted[r]);
  }
}

// A unit of work: queries of a head, or keys of a key/value head.
struct Block {
  bool of_query;
  std::int64_t batch, head;
  Places places;
};

// `wanted(position)`: whether to compute this position.  Blocks shrink if there would be fewer than kThreads.
template <class Wanted>
void add_blocks(std::vector<Block>& blocks, bool of_query, std::int64_t batch, std::int64_t head, std::int64_t seq,
                std::int64_t heads, Wanted&& wanted) {
  Places all;
  for (std::int64_t i = 0; i < seq; ++i)
    if (wanted(i)) all.push_back(i);
  const auto count = static_cast<std::int64_t>(all.size());
  const std::int64_t each = std::clamp<std::int64_t>(count * heads / kThreads, 16, kMostOfBlock);
  for (std::int64_t first = 0; first < count; first += each)
    blocks.push_back({of_query, batch, head, {all.begin() + first, all.begin() + std::min(first + each, count)}});
}

}  // namespace

void golden(const Op::Args& a, Op::Golden& g, const Rows& rows) {
  const std::int64_t dim = a.q.shape[3], heads = a.q.shape[2], kv_heads = a.k.shape[2];
  std::vector<Block> blocks;
  for (std::int64_t batch = 0; batch < a.q.shape[0]; ++batch) {
    for (std::int64_t head = 0; head < heads; ++head)
      add_blocks(blocks, true, batch, head, a.q.shape[1], heads,
                 [&](std::int64_t i) { return rows.has((batch * a.q.shape[1] + i) * heads + head); });
    for (std::int64_t kv = 0; kv < kv_heads; ++kv)
      add_blocks(blocks, false, batch, kv, a.k.shape[1], kv_heads, [&](std::int64_t j) {
        return rows.all() || rows.has(Op::row_of(a, 1, ((batch * a.k.shape[1] + j) * kv_heads + kv) * dim));
      });
  }
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& b = blocks[i];
    if (b.of_query) answer_queries(a, g, b.batch, b.head, b.places);
    else answer_keys(a, g, b.batch, b.head, b.places);
  }
}

// The positions of all blocks; each thread has a block, a chunk of the other side in three forms, and all pairs of both.
double scratch(const attention_backward::Args& a, const Rows& rows) {
  const double dim = static_cast<double>(a.q.shape[3]), block = kMostOfBlock, chunk = kChunk;
  const auto places = static_cast<double>(a.q.shape[0] * (a.q.shape[1] * a.q.shape[2] + a.k.shape[1] * a.k.shape[2]));
  const double of_thread = dim * (10 * block + 9 * block + 10 * chunk) + 12 * block * chunk;
  return bytes_of((rows.all() ? places : static_cast<double>(rows.count())) +
                  static_cast<double>(omp_get_max_threads()) * of_thread);
}

static const LinkedGolden<attention_backward> linked_attention_backward(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

// Query heads stand as those of a group, `member`, beside the key/value head that they share.
static void write(const assay::attention_backward::Args& a, Formula& f) {
  const Axis heads("heads"), kv_heads("kv_heads"), member("member"), dim("head_dim"), queries("seq_q"), keys("seq_k");
  const std::int64_t group = f.extent(heads) / f.extent(kv_heads);
  const auto members = static_cast<double>(group);
  const Array head = f.index(kv_heads) * members + f.index(member, group);
  const auto grouped = [&](const char* name) { return take(f.in(name), heads, head); };
  const Array q = grouped("q"), d_o = grouped("do"), lse = grouped("lse"), k = f.in("k");

  const Attention pairs(f, false, static_cast<Attention::Mask>(a.mask), 0);
  const Array sees_any = 1 - (lse <= -std::numeric_limits<double>::infinity());  // also where it is NaN
  const Array seen = pairs.seen() ? *pairs.seen() && sees_any : sees_any;
  const Array p = step("p", exp(sum(dim)(q * k) * a.scale_used() - lse));
  const Array ds = step("ds", p * (sum(dim)(d_o * f.in("v")) - sum(dim)(d_o * grouped("o"))), Stored::as_gradient);
  const Array scaled = where(seen, step("scaled_ds", ds * a.scale_used(), Stored::as_scaled_gradient), 0);

  const Array kv = quotient(f.index(heads), members);
  f.out("dq", take(take(sum(keys)(scaled * k), kv_heads, kv), member, f.index(heads) - kv * members));
  f.out("dk", sum(queries, member)(scaled * q));
  f.out("dv", sum(queries, member)(where(seen, step("p", p, Stored::as_factor), 0) * d_o));
}

static const LinkedFormula<assay::attention_backward> formula_of_attention_backward("attention_backward", write);

}  // namespace assay::formula
