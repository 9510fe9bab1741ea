// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/attention_scores.hpp"

#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/solving.hpp"

namespace assay {
namespace {

using Op = attention_scores;
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Extents {
  std::int64_t batch = 1, seq_q = 1, seq_k = 1, heads = 1, kv_heads = 1, dim = 1;
};

Tensor tensor(std::vector<double>& v, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  return {.data = v.data(), .dtype = f64, .rank = 4, .shape = {a, b, c, d}, .stride = {b * c * d, c * d, d, 1}};
}

// p
std::vector<double> solve(Extents e, std::vector<double> q, std::vector<double> k, Op::Mask mask = Op::Mask::none,
                          double scale = 1, std::vector<std::int64_t> sample = {}) {
  const std::int64_t rows = e.batch * e.heads * e.seq_q;
  std::vector<double> p(static_cast<std::size_t>(rows * e.seq_k), -7);
  REQUIRE(q.size() == static_cast<std::size_t>(e.batch * e.seq_q * e.heads * e.dim));
  REQUIRE(k.size() == static_cast<std::size_t>(e.batch * e.seq_k * e.kv_heads * e.dim));
  const Op::Args a{.q = tensor(q, e.batch, e.seq_q, e.heads, e.dim),
                   .k = tensor(k, e.batch, e.seq_k, e.kv_heads, e.dim),
                   .p = tensor(p, e.batch, e.heads, e.seq_q, e.seq_k),
                   .mask = mask,
                   .scale = scale};
  test::solve<Op>(a, {p}, {.total = rows, .sample = std::move(sample)});
  return p;
}

void check_near(const std::vector<double>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i << ": " << got[i] << " for " << expected[i]);
    CHECK(std::fabs(got[i] - expected[i]) < 1e-14);
  }
}

const double kLn2 = std::log(2.0), kLn3 = std::log(3.0);

}  // namespace

TEST_CASE("attention_scores: matches values computed by hand", "[golden]") {
  // q = (1, 2); k = (ln 2, 0), (ln 3, -ln 3), (0, 0): scores ln 2, -ln 3, 0, so weights 2, 1/3, 1 of 10/3.
  check_near(solve({.seq_k = 3, .dim = 2}, {1, 2}, {kLn2, 0, kLn3, -kLn3, 0, 0}), {0.6, 0.1, 0.3});
  // The default scale is 1/sqrt(2), which takes ln(9) / 2 sqrt(2) ... to weights of 3^(1/sqrt 2) and 1.
  const double w = std::pow(3.0, 1 / std::sqrt(2.0));
  check_near(solve({.seq_k = 2, .dim = 2}, {1, 0}, {kLn3, 9, 0, -9}, Op::Mask::none, 0), {w / (1 + w), 1 / (1 + w)});
}

TEST_CASE("attention_scores: which keys a query sees", "[golden]") {
  const std::vector<double> q2{0, 0}, q3{0, 0, 0}, k2{1, 1}, k3{1, 1, 1};
  const double t = 1.0 / 3;
  check_near(solve({.seq_q = 2, .seq_k = 3}, q2, k3, Op::Mask::causal), {0.5, 0.5, 0, t, t, t});
  check_near(solve({.seq_q = 2, .seq_k = 3}, q2, k3, Op::Mask::causal_top_left), {1, 0, 0, 0.5, 0.5, 0});
  check_near(solve({.seq_q = 3, .seq_k = 2}, q3, k2, Op::Mask::causal), {0, 0, 1, 0, 0.5, 0.5});
  check_near(solve({.seq_q = 3, .seq_k = 2}, q3, k2, Op::Mask::causal_top_left), {1, 0, 0.5, 0.5, 0.5, 0.5});
}

TEST_CASE("attention_scores: heads read their group's keys, batches their own", "[golden]") {
  // 4 heads, 2 key heads: heads 0 and 1 see scores (ln 2, 0), heads 2 and 3 (0, ln 3).  The second batch has them swapped.
  const std::vector<double> p = solve({.batch = 2, .seq_k = 2, .heads = 4, .kv_heads = 2}, std::vector<double>(8, 1.0),
                                      {kLn2, 0, 0, kLn3, 0, kLn3, kLn2, 0});
  const double a = 2.0 / 3, b = 1.0 / 3, c = 0.25, d = 0.75;
  check_near(p, {a, b, a, b, c, d, c, d, b, a, b, a, d, c, d, c});
}

TEST_CASE("attention_scores: infinities and NaN", "[golden]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // -inf gives p = 0; only -inf a row of zeros; +inf and NaN make the visible keys NaN, hidden ones stay 0.
  check_near(solve({.seq_k = 3}, {1}, {-kInf, 0, 0}), {0, 0.5, 0.5});
  check_near(solve({.seq_k = 2}, {1}, {-kInf, -kInf}), {0, 0});
  for (const double bad : {nan, kInf}) {
    const std::vector<double> p = solve({.seq_q = 3, .seq_k = 3}, {1, 1, 1}, {0, bad, 0}, Op::Mask::causal);
    CHECK((p[0] == 1 && p[1] == 0 && p[2] == 0));
    CHECK((std::isnan(p[3]) && std::isnan(p[4]) && p[5] == 0));
    CHECK((std::isnan(p[6]) && std::isnan(p[7]) && std::isnan(p[8])));
  }
}

TEST_CASE("attention_scores: a weight is 0 where exp underflows", "[golden]") {
  CHECK(solve({.seq_k = 3}, {1}, {2000, 0, -1000}) == std::vector<double>{1, 0, 0});
}

TEST_CASE("attention_scores: only the sampled rows are written", "[golden]") {
  // The second query of both heads.
  const std::vector<double> p = solve({.seq_q = 3, .heads = 2}, std::vector<double>(6), {0}, Op::Mask::none, 1, {1, 4});
  CHECK(p == std::vector<double>{-7, 1, -7, -7, 1, -7});
}

}  // namespace assay
