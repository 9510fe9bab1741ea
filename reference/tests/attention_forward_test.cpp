// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/attention_forward.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/solving.hpp"

namespace assay {
namespace {

using Op = attention_forward;
constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

struct Shape {
  std::int64_t queries, keys, heads = 1, kv_heads = 1, dim = 1, batch = 1;
};

// Owns the arrays of one problem in f64.
struct Solved {
  Solved(Shape s, std::vector<double> queries, std::vector<double> keys, std::vector<double> values, Op::Mask mask, double scale,
         std::vector<std::int64_t> sample = {}, double window = 0, double softcap = 0)
      : q(std::move(queries)), k(std::move(keys)), v(std::move(values)) {
    const auto size = static_cast<std::size_t>(s.batch * s.queries * s.heads);
    o.assign(size * static_cast<std::size_t>(s.dim), -7);
    lse.assign(size, -7);
    a = {.q = tensor(q, {s.batch, s.queries, s.heads, s.dim}),
         .k = tensor(k, {s.batch, s.keys, s.kv_heads, s.dim}),
         .v = tensor(v, {s.batch, s.keys, s.kv_heads, s.dim}),
         .o = tensor(o, {s.batch, s.queries, s.heads, s.dim}),
         .lse = tensor(lse, {s.batch, s.heads, s.queries}),
         .mask = mask,
         .scale = scale,
         .window = window,
         .softcap = softcap};
    a.lse.dtype = f32;  // its data is not read
    test::solve<Op>(a, {o, lse}, {.total = static_cast<std::int64_t>(size), .sample = std::move(sample)});
  }
  Solved(const Solved&) = delete;
  static Tensor tensor(std::vector<double>& values, std::initializer_list<std::int64_t> shape) {
    Tensor t{.data = values.data(), .dtype = f64, .rank = static_cast<int>(shape.size())};
    std::copy(shape.begin(), shape.end(), t.shape.begin());
    std::int64_t stride = 1;
    for (int i = t.rank - 1; i >= 0; --i) {
      t.stride[i] = stride;
      stride *= t.shape[i];
    }
    return t;
  }
  std::vector<double> q, k, v, o, lse;
  Op::Args a;
};

bool near(double x, double y) { return std::fabs(x - y) <= 1e-14 * std::max(1.0, std::fabs(y)); }
const double kLn3 = std::log(3.0);

}  // namespace

TEST_CASE("attention_forward: matches values computed by hand", "[golden]") {
  // Scores ln 3 and 0 weigh 3/4 and 1/4: O = (3*4 + 1*(-8))/4 = 1, L = ln 4.
  const Solved s({.queries = 1, .keys = 2}, {1}, {kLn3, 0}, {4, -8}, Op::Mask::none, 1);
  CHECK(near(s.o[0], 1));
  CHECK(near(s.lse[0], std::log(4.0)));
}

TEST_CASE("attention_forward: scale 0 is one over the root of head_dim", "[golden]") {
  // q.k = 2 ln 3 over four channels; halved it is ln 3.
  const Solved s({.queries = 1, .keys = 2, .dim = 4}, {1, 1, -1, 1}, {kLn3, kLn3, 0, 0, 0, 0, 0, 0}, {4, 0, 0, 1, -8, 0, 0, 1},
                 Op::Mask::none, 0);
  CHECK(near(s.o[0], 1));
  CHECK(near(s.o[3], 1));
  CHECK(near(s.lse[0], std::log(4.0)));
}

TEST_CASE("attention_forward: causal, bottom-right and top-left", "[golden]") {
  // Equal scores: O is the mean of what is visible.  Two queries, four keys: 3 and 4 visible, or 1 and 2.
  const std::vector<double> v{12, 24, 36, 48}, zeros(4);
  const Solved right({.queries = 2, .keys = 4}, {0, 0}, zeros, v, Op::Mask::causal, 1);
  CHECK((near(right.o[0], 24) && near(right.o[1], 30)));
  CHECK((near(right.lse[0], kLn3) && near(right.lse[1], std::log(4.0))));
  const Solved left({.queries = 2, .keys = 4}, {0, 0}, zeros, v, Op::Mask::causal_top_left, 1);
  CHECK((near(left.o[0], 12) && near(left.o[1], 18)));
  CHECK((left.lse[0] == 0 && near(left.lse[1], std::log(2.0))));
  // Four queries, two keys, bottom-right: the first two see nothing.
  const Solved few({.queries = 4, .keys = 2}, zeros, {0, 0}, {12, 24}, Op::Mask::causal, 1);
  CHECK((few.o[0] == 0 && few.o[1] == 0 && few.o[2] == 12 && near(few.o[3], 18)));
  CHECK((few.lse[0] == -kInf && few.lse[1] == -kInf && few.lse[2] == 0));
  // No keys at all.
  const Solved none({.queries = 2, .keys = 0}, {1, 1}, {}, {}, Op::Mask::none, 1);
  CHECK((none.o == std::vector<double>{0, 0} && none.lse == std::vector<double>{-kInf, -kInf}));
}

TEST_CASE("attention_forward: a window keeps the last w keys up to the query", "[golden]") {
  const std::vector<double> v{12, 24, 36, 48}, zeros(4);
  const auto mean = [&](Op::Mask mask, double window) {
    return std::make_unique<Solved>(Shape{.queries = 2, .keys = 4}, std::vector<double>{0, 0}, zeros, v, mask, 1,
                                    std::vector<std::int64_t>{}, window);
  };
  const auto right = mean(Op::Mask::causal, 2), left = mean(Op::Mask::causal_top_left, 1), none = mean(Op::Mask::none, 1);
  CHECK((near(right->o[0], 30) && near(right->o[1], 42) && near(right->lse[1], std::log(2.0))));
  CHECK((left->o[0] == 12 && left->o[1] == 24 && left->lse[1] == 0));
  CHECK((near(none->o[0], 42) && none->o[1] == 48));  // keys 2 and 3, key 3
  CHECK(Op::cost(right->a).flops == 4 * 4);
  // If all keys lie before the window nothing is visible; a NaN before the window has no effect.
  const Solved few({.queries = 4, .keys = 2}, zeros, {0, 0}, {12, 24}, Op::Mask::causal_top_left, 1, {}, 1);
  CHECK((few.o[0] == 12 && few.o[1] == 24 && few.o[2] == 0 && few.lse[3] == -kInf));
  const Solved before({.queries = 1, .keys = 3}, {1}, {kNaN, 1, 1}, {kNaN, 2, 4}, Op::Mask::causal, 1, {}, 2);
  CHECK(near(before.o[0], 3));
}

TEST_CASE("attention_forward: softcap", "[golden]") {
  // 2 tanh(x / 2) = ln 3 gives the first example again.
  const Solved s({.queries = 1, .keys = 2}, {0.5}, {4 * std::atanh(kLn3 / 2), 0}, {4, -8}, Op::Mask::none, 1, {}, 0, 2);
  CHECK(near(s.o[0], 1));
  CHECK(near(s.lse[0], std::log(4.0)));
}

TEST_CASE("attention_forward: rope rotates q and k by their positions", "[golden]") {
  // Query and last key have position 1: q becomes (cos 1, sin 1), the keys are (1, 0) and 2 (-sin 1, cos 1).
  Solved s({.queries = 1, .keys = 2, .dim = 2}, {1, 0}, {1, 0, 0, 2}, {1, 1, 3, 3}, Op::Mask::none, 1);
  s.a.rope.pairs = AttentionRope::Pairs::half;
  test::solve<Op>(s.a, {s.o, s.lse});
  const double first = std::exp(std::cos(1.0));
  CHECK(near(s.lse[0], std::log(first + 1)));
  CHECK(near(s.o[0], (first + 3) / (first + 1)));
}

TEST_CASE("attention_forward: grouped heads and sequences are indexed correctly", "[golden]") {
  // One key, so O is its V: batch 2, 2 queries, 4 heads over 2.  v[b][0][kv][c] = 100 b + 10 kv + c.
  std::vector<double> q(2 * 2 * 4 * 2, 1.0), k(2 * 2 * 2, 1.0), v;
  for (int b = 0; b < 2; ++b)
    for (int kv = 0; kv < 2; ++kv)
      for (int c = 0; c < 2; ++c) v.push_back(100 * b + 10 * kv + c);
  for (std::size_t h = 0; h < 4; ++h) q[8 + h * 2] = static_cast<double>(h);  // batch 0, query 1: scores h + 1
  const Solved s({.queries = 2, .keys = 1, .heads = 4, .kv_heads = 2, .dim = 2, .batch = 2}, q, k, v, Op::Mask::none, 1);
  for (int b = 0; b < 2; ++b)
    for (int query = 0; query < 2; ++query)
      for (int h = 0; h < 4; ++h)
        for (int c = 0; c < 2; ++c) CHECK(s.o[((b * 2 + query) * 4 + h) * 2 + c] == 100 * b + 10 * (h / 2) + c);
  // L is [batch, heads, seq_q].
  for (int h = 0; h < 4; ++h) CHECK((s.lse[h * 2] == 2 && s.lse[h * 2 + 1] == h + 1));
  for (std::int64_t i = 0; i < 16; ++i) {
    const std::int64_t row = Op::row_of(s.a, 1, i), b = i / 8, h = i / 2 % 4, query = i % 2;
    CHECK(row == (b * 2 + query) * 4 + h);
    CHECK(Op::row_of(s.a, 0, row * 2 + 1) == row);
  }
}

TEST_CASE("attention_forward: NaN and inf reach only what depends on them", "[golden]") {
  // Two channels, three keys, causal top-left, so query i sees keys 0..i.
  const Shape shape{.queries = 3, .keys = 3, .dim = 2};
  const std::vector<double> ones(6, 1.0);
  const Solved in_v(shape, ones, ones, {1, 1, kInf, 2, 3, kNaN}, Op::Mask::causal_top_left, 1);
  CHECK((in_v.o[0] == 1 && in_v.o[1] == 1));
  CHECK((in_v.o[2] == kInf && near(in_v.o[3], 1.5)));
  CHECK((in_v.o[4] == kInf && std::isnan(in_v.o[5])));
  CHECK(near(in_v.lse[2], 2 + kLn3));
  const Solved in_k(shape, ones, {1, 1, kNaN, 1, 1, 1}, ones, Op::Mask::causal_top_left, 1);
  CHECK((in_k.o[0] == 1 && in_k.lse[0] == 2));
  for (int i = 2; i < 6; ++i) CHECK(std::isnan(in_k.o[i]));
  CHECK((std::isnan(in_k.lse[1]) && std::isnan(in_k.lse[2])));
  // A score of -inf acts like a hidden key; only -inf like no key; +inf gives NaN.
  const Solved infinite({.queries = 1, .keys = 2}, {1}, {-kInf, 3}, {5, 7}, Op::Mask::none, 1);
  CHECK((infinite.o[0] == 7 && infinite.lse[0] == 3));
  const Solved empty({.queries = 1, .keys = 1}, {1}, {-kInf}, {5}, Op::Mask::none, 1);
  CHECK((empty.o[0] == 0 && empty.lse[0] == -kInf));
  const Solved above({.queries = 1, .keys = 2}, {1}, {kInf, 3}, {5, 7}, Op::Mask::none, 1);
  CHECK((std::isnan(above.o[0]) && std::isnan(above.lse[0])));
}

TEST_CASE("attention_forward: only the sampled rows are computed", "[golden]") {
  const std::vector<double> v{12, 24, 36, 48}, zeros(4);
  const Solved all({.queries = 4, .keys = 4}, {1, 2, 3, 4}, {1, 0, 2, 1}, v, Op::Mask::causal, 1);
  const Solved some({.queries = 4, .keys = 4}, {1, 2, 3, 4}, {1, 0, 2, 1}, v, Op::Mask::causal, 1, {1, 3});
  for (std::size_t i = 0; i < 4; ++i) CHECK((i % 2 ? some.o[i] == all.o[i] && some.lse[i] == all.lse[i] : some.o[i] == -7));
}

TEST_CASE("attention_forward: visible pairs, flops and bytes", "[golden]") {
  const std::vector<double> four(4), two(2);
  const Solved s({.queries = 4, .keys = 2}, four, two, two, Op::Mask::causal, 1);
  CHECK(Op::cost(s.a).flops == 4 * 3);  // 0 + 0 + 1 + 2 pairs
  const Solved wide({.queries = 2, .keys = 4}, two, four, four, Op::Mask::causal, 1);
  CHECK(Op::cost(wide.a).flops == 4 * 7);
  CHECK(Op::cost(wide.a).bytes_read == 8 * (2 + 4 + 4));
  CHECK(Op::cost(wide.a).unfused_bytes == 8 * (2 + 4 + 4 + 2) + 4 * 2 + 4 * 8 * 8);
}

}  // namespace assay
