// SPDX-License-Identifier: Apache-2.0
// Tests the golden against values computed by hand; goldens_test.cpp tests it against the oracle.
#include "ops/attention_scores.hpp"

#include <vector>

#include "catch_shim.hpp"

namespace assay::reference {
void golden(const attention_scores::Args&, attention_scores::Golden&, const Rows&);
}

namespace assay {
namespace {

using Op = attention_scores;
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Extents {
  std::int64_t batch = 1, seq_q = 1, seq_k = 1, heads = 1, kv_heads = 1, dim = 1;
};
struct Solved {
  std::vector<double> p, log_p, log_rest, score_abs, products_abs, products_sq;
};

Tensor tensor(std::vector<double>& v, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  return {.data = v.data(), .dtype = f64, .rank = 4, .shape = {a, b, c, d}, .stride = {b * c * d, c * d, d, 1}};
}

Solved solve(Extents e, std::vector<double> q, std::vector<double> k, Op::Mask mask = Op::Mask::none, double scale = 1,
             std::vector<std::int64_t> sample = {}) {
  const auto rows = static_cast<std::size_t>(e.batch * e.heads * e.seq_q), all = rows * static_cast<std::size_t>(e.seq_k);
  Solved s{std::vector<double>(all, -7), std::vector<double>(all),  std::vector<double>(rows),
           std::vector<double>(rows),    std::vector<double>(rows), std::vector<double>(rows)};
  std::vector<double> p(all);
  REQUIRE(q.size() == static_cast<std::size_t>(e.batch * e.seq_q * e.heads * e.dim));
  REQUIRE(k.size() == static_cast<std::size_t>(e.batch * e.seq_k * e.kv_heads * e.dim));
  const Op::Args a{.q = tensor(q, e.batch, e.seq_q, e.heads, e.dim),
                   .k = tensor(k, e.batch, e.seq_k, e.kv_heads, e.dim),
                   .p = tensor(p, e.batch, e.heads, e.seq_q, e.seq_k),
                   .mask = mask,
                   .scale = scale};
  Op::Golden g{s.p, s.log_p, s.log_rest, s.score_abs, s.products_abs, s.products_sq};
  reference::golden(a, g, {.total = static_cast<std::int64_t>(rows), .sample = std::move(sample)});
  return s;
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
  const Solved s = solve({.seq_k = 3, .dim = 2}, {1, 2}, {kLn2, 0, kLn3, -kLn3, 0, 0});
  check_near(s.p, {0.6, 0.1, 0.3});
  CHECK(std::fabs(s.log_rest[0] - std::log(0.4)) < 1e-15);
  CHECK(std::fabs(s.score_abs[0] - kLn3) < 1e-15);
  CHECK(std::fabs(s.products_abs[0] - 3 * kLn3) < 1e-15);
  CHECK(std::fabs(s.products_sq[0] - 5 * kLn3 * kLn3) < 1e-14);
  // The default scale is 1/sqrt(2), which takes ln(9) / 2 sqrt(2) ... to weights of 3^(1/sqrt 2) and 1.
  const double w = std::pow(3.0, 1 / std::sqrt(2.0));
  check_near(solve({.seq_k = 2, .dim = 2}, {1, 0}, {kLn3, 9, 0, -9}, Op::Mask::none, 0).p, {w / (1 + w), 1 / (1 + w)});
}

TEST_CASE("attention_scores: which keys a query sees", "[golden]") {
  const std::vector<double> q2{0, 0}, q3{0, 0, 0}, k2{1, 1}, k3{1, 1, 1};
  const double t = 1.0 / 3;
  check_near(solve({.seq_q = 2, .seq_k = 3}, q2, k3, Op::Mask::causal).p, {0.5, 0.5, 0, t, t, t});
  check_near(solve({.seq_q = 2, .seq_k = 3}, q2, k3, Op::Mask::causal_top_left).p, {1, 0, 0, 0.5, 0.5, 0});
  check_near(solve({.seq_q = 3, .seq_k = 2}, q3, k2, Op::Mask::causal).p, {0, 0, 1, 0, 0.5, 0.5});
  check_near(solve({.seq_q = 3, .seq_k = 2}, q3, k2, Op::Mask::causal_top_left).p, {1, 0, 0.5, 0.5, 0.5, 0.5});
}

TEST_CASE("attention_scores: heads read their group's keys, batches their own", "[golden]") {
  // 4 heads, 2 key heads: heads 0 and 1 see scores (ln 2, 0), heads 2 and 3 (0, ln 3).  The second batch has them swapped.
  const Solved s = solve({.batch = 2, .seq_k = 2, .heads = 4, .kv_heads = 2}, std::vector<double>(8, 1.0),
                         {kLn2, 0, 0, kLn3, 0, kLn3, kLn2, 0});
  const double a = 2.0 / 3, b = 1.0 / 3, c = 0.25, d = 0.75;
  check_near(s.p, {a, b, a, b, c, d, c, d, b, a, b, a, d, c, d, c});
}

TEST_CASE("attention_scores: infinities and NaN", "[golden]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // -inf gives p = 0; only -inf a row of zeros; +inf and NaN make the visible keys NaN, hidden ones stay 0.
  check_near(solve({.seq_k = 3}, {1}, {-kInf, 0, 0}).p, {0, 0.5, 0.5});
  check_near(solve({.seq_k = 2}, {1}, {-kInf, -kInf}).p, {0, 0});
  for (const double bad : {nan, kInf}) {
    const Solved s = solve({.seq_q = 3, .seq_k = 3}, {1, 1, 1}, {0, bad, 0}, Op::Mask::causal);
    CHECK((s.p[0] == 1 && s.p[1] == 0 && s.p[2] == 0));
    CHECK((std::isnan(s.p[3]) && std::isnan(s.p[4]) && s.p[5] == 0));
    CHECK((std::isnan(s.p[6]) && std::isnan(s.p[7]) && std::isnan(s.p[8])));
  }
}

TEST_CASE("attention_scores: log_p and log_rest stay accurate where exp underflows", "[golden]") {
  const Solved s = solve({.seq_k = 3}, {1}, {2000, 0, -1000});
  CHECK(s.p == std::vector<double>{1, 0, 0});
  CHECK(s.log_p == std::vector<double>{0, -2000, -3000});
  CHECK((s.log_rest[0] >= -2000 && s.log_rest[0] <= -1998));
}

TEST_CASE("attention_scores: only the sampled rows are written", "[golden]") {
  const Solved s = solve({.seq_q = 3, .heads = 2}, std::vector<double>(6), {0}, Op::Mask::none, 1, {1, 3, 5});
  CHECK(s.p == std::vector<double>{-7, 1, -7, 1, -7, 1});
}

TEST_CASE("attention_scores: the bound equals the exact worst case for large and zero score errors", "[bound]") {
  // Two keys with p = 1/2 each: score errors of +-epsilon move p to at most 1/(1 + exp(-2 epsilon)).
  std::vector<double> q{1}, k{1, 1}, p(2);
  const Op::Args a{.q = tensor(q, 1, 1, 1, 1), .k = tensor(k, 1, 2, 1, 1), .p = tensor(p, 1, 1, 1, 2), .scale = 1};
  std::vector<double> half{0.5, 0.5}, log_half{-kLn2, -kLn2}, rest{-kLn2}, zero{0}, abs{0}, sq{0};
  const auto bound = [&](double products) {
    abs[0] = products;
    return Op::bound(a, {half, log_half, rest, zero, abs, sq}, {.function_error = 0}, Errors::coherent, 0, 0);
  };
  for (const double epsilon : {1e-6, 1e-3, 0.3, 0.7, 2.0}) {
    INFO(epsilon);
    CHECK(std::fabs(bound(epsilon * 0x1p24) / (1 / (1 + std::exp(-2 * epsilon)) - 0.5) - 1) < 0.3);
  }
  CHECK(bound(1e30) < 0.51);
  CHECK(bound(0) < 4 * 0x1p-24);
}

}  // namespace assay
