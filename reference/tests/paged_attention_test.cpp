// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/paged_attention.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "ops/core/dense.hpp"
#include "reference/tests/solving.hpp"
#include "validate/problem/typed/op_adapter.hpp"

namespace assay {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

struct Shape {
  std::int64_t batch = 1, queries = 1, page_size = 2, heads = 1, kv_heads = 1, dim = 1;
};

// Owns the arrays of one problem in f64.
struct Solved {
  Solved(Shape s, std::vector<double> queries, std::vector<double> keys, std::vector<double> values,
         std::vector<std::int32_t> pages, std::vector<std::int32_t> positions, std::vector<std::int64_t> sample = {})
      : q(std::move(queries)), k(std::move(keys)), v(std::move(values)), table(std::move(pages)), lengths(std::move(positions)) {
    const std::int64_t rows = s.batch * s.queries * s.heads, slots = static_cast<std::int64_t>(k.size()) / s.kv_heads / s.dim;
    o.assign(static_cast<std::size_t>(rows * s.dim), -7);
    lse.assign(static_cast<std::size_t>(rows), -7);
    a = {.q = dense(q.data(), f64, {s.batch, s.queries, s.heads, s.dim}),
         .k_pool = dense(k.data(), f64, {slots / s.page_size, s.page_size, s.kv_heads, s.dim}),
         .v_pool = dense(v.data(), f64, {slots / s.page_size, s.page_size, s.kv_heads, s.dim}),
         .page_table = dense(table.data(), i32, {s.batch, static_cast<std::int64_t>(table.size()) / s.batch}),
         .lengths = dense(lengths.data(), i32, {s.batch}),
         .o = dense(nullptr, f64, {s.batch, s.queries, s.heads, s.dim}),
         .lse = dense(nullptr, f32, {s.batch, s.heads, s.queries}),
         .scale = 1};
    if (legal_arguments<paged_attention>(a))
      test::solve<paged_attention>(a, {o, lse}, {.total = rows, .sample = std::move(sample)});
  }
  Solved(const Solved&) = delete;
  std::vector<double> q, k, v;
  std::vector<std::int32_t> table, lengths;
  std::vector<double> o, lse;
  paged_attention::Args a;
};

bool near(double x, double y) { return std::fabs(x - y) <= 1e-14 * std::max(1.0, std::fabs(y)); }
const double kLn3 = std::log(3.0);

}  // namespace

TEST_CASE("paged_attention: matches values computed by hand, over two non-adjacent pages", "[golden]") {
  // Pages of two slots; positions 0, 1 on page 2 and position 2 on page 0.  Scores ln 3, 0, ln 4 weigh 3/8, 1/8, 4/8:
  // O = (3*8 + 1*(-8) + 4*2)/8 = 3, L = ln 8.
  const Solved s({}, {1}, {std::log(4.0), kNaN, kNaN, kNaN, kLn3, 0}, {2, kNaN, kNaN, kNaN, 8, -8}, {2, 0, 77}, {3});
  CHECK(near(s.o[0], 3));
  CHECK(near(s.lse[0], std::log(8.0)));
}

TEST_CASE("paged_attention: each new token sees one more key; empty and too short sequences", "[golden]") {
  // Equal scores: O is the mean of what is visible.  Three new tokens; lengths 4, 0, 2 and pages shared.
  const std::vector<double> v{12, 24, 36, 48};
  const Solved s({.batch = 3, .queries = 3}, std::vector<double>(9), std::vector<double>(4), v, {0, 1, -1, -1, 0, 9}, {4, 0, 2});
  CHECK((near(s.o[0], 18) && near(s.o[1], 24) && near(s.o[2], 30)));
  CHECK((near(s.lse[0], std::log(2.0)) && near(s.lse[2], std::log(4.0))));
  for (int i : {3, 4, 5, 6}) CHECK((s.o[i] == 0 && s.lse[i] == -kInf));
  CHECK((s.o[7] == 12 && s.lse[7] == 0 && near(s.o[8], 18)));
}

TEST_CASE("paged_attention: grouped heads are indexed correctly", "[golden]") {
  // One position, so O is its V: 2 sequences, 2 queries, 4 heads over 2.  V of page b is 100 b + 10 kv + c.
  std::vector<double> q(2 * 2 * 4 * 2, 1.0), k(2 * 2 * 2, 1.0), v;
  for (int page = 0; page < 2; ++page)
    for (int kv = 0; kv < 2; ++kv)
      for (int c = 0; c < 2; ++c) v.push_back(100 * page + 10 * kv + c);
  for (std::size_t h = 0; h < 4; ++h) q[8 + h * 2] = static_cast<double>(h);  // sequence 0, query 1: scores h + 1
  const Solved s({.batch = 2, .queries = 2, .page_size = 1, .heads = 4, .kv_heads = 2, .dim = 2}, q, k, v, {1, 0}, {1, 1});
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 4; ++h)
      for (int c = 0; c < 2; ++c) {
        CHECK(s.o[((b * 2 + 0) * 4 + h) * 2 + c] == 0);
        CHECK(s.o[((b * 2 + 1) * 4 + h) * 2 + c] == 100 * (1 - b) + 10 * (h / 2) + c);
      }
  for (int h = 0; h < 4; ++h) CHECK((s.lse[h * 2] == -kInf && s.lse[h * 2 + 1] == h + 1));  // [batch, heads, seq_q]
  for (std::int64_t i = 0; i < 16; ++i) CHECK(paged_attention::row_of(s.a, 1, i) == (i / 8 * 2 + i % 2) * 4 + i / 2 % 4);
}

TEST_CASE("paged_attention: NaN and inf reach only what depends on them", "[golden]") {
  // Two channels, three positions, three queries.
  const Shape shape{.queries = 3, .page_size = 3, .dim = 2};
  const std::vector<double> ones(6, 1.0);
  const Solved in_v(shape, ones, ones, {1, 1, kInf, 2, 3, kNaN}, {0}, {3});
  CHECK((in_v.o[0] == 1 && in_v.o[1] == 1 && in_v.o[2] == kInf && near(in_v.o[3], 1.5)));
  CHECK((in_v.o[4] == kInf && std::isnan(in_v.o[5]) && near(in_v.lse[2], 2 + kLn3)));
  const Solved in_k(shape, ones, {1, 1, kNaN, 1, 1, 1}, ones, {0}, {3});
  CHECK((in_k.o[0] == 1 && in_k.lse[0] == 2 && std::isnan(in_k.o[2]) && std::isnan(in_k.lse[2])));
  // A score of -inf acts like a hidden key; only -inf like no key; +inf gives NaN.
  const Solved infinite({}, {1}, {-kInf, 3}, {5, 7}, {0}, {2});
  CHECK((infinite.o[0] == 7 && infinite.lse[0] == 3));
  const Solved empty({.page_size = 1}, {1}, {-kInf}, {5}, {0}, {1});
  CHECK((empty.o[0] == 0 && empty.lse[0] == -kInf));
  const Solved above({}, {1}, {kInf, 3}, {5, 7}, {0}, {2});
  CHECK((std::isnan(above.o[0]) && std::isnan(above.lse[0])));
}

TEST_CASE("paged_attention: the sampled rows are computed, and nothing of sequences without any", "[golden]") {
  const std::vector<double> k{1, 0, 2, 1}, v{12, 24, 36, 48}, q{1, 2, 3, 4};
  const Shape shape{.batch = 2, .queries = 2};
  const std::vector<std::int32_t> table{1, 0, 0, 1}, lengths{4, 3};
  const Solved all(shape, q, k, v, table, lengths), of_both(shape, q, k, v, table, lengths, {1, 2}),
      of_second(shape, q, k, v, table, lengths, {2, 3});
  for (const int i : {1, 2}) CHECK((of_both.o[i] == all.o[i] && of_both.lse[i] == all.lse[i]));
  for (const int i : {2, 3}) CHECK((of_second.o[i] == all.o[i] && of_second.lse[i] == all.lse[i]));
  for (const int i : {0, 1}) CHECK((of_second.o[i] == -7 && of_second.lse[i] == -7));
}

TEST_CASE("paged_attention: illegal arguments are named", "[golden]") {
  const std::vector<double> four(4);
  const auto why = [&](std::vector<std::int32_t> table, std::vector<std::int32_t> lengths) {
    return legal_arguments<paged_attention>(Solved({}, {1}, four, four, std::move(table), std::move(lengths)).a).why;
  };
  CHECK(why({0, 1}, {4}).empty());
  CHECK(why({0, 5}, {2}).empty());
  CHECK(why({0, 1}, {5}) == "lengths[0] is 5, not one of 0 ... 4");
  CHECK(why({0, 1}, {-1}) == "lengths[0] is -1, not one of 0 ... 4");
  CHECK(why({0, 2}, {3}) == "page_table[0, 1] is 2, not one of 0 ... 1");
}

TEST_CASE("paged_attention: flops and bytes follow the lengths", "[golden]") {
  const std::vector<double> four(4);
  Solved s({.batch = 2, .queries = 2}, four, four, four, {0, 1, 1, 0}, {4, 1});
  CHECK(paged_attention::cost(s.a).flops == 4 * (3 + 4 + 0 + 1));
  CHECK(paged_attention::cost(s.a).bytes_read == 8 * 4 + 2 * 5 * 8 + 2.5 * 4 + 8);
  s.a.lengths.data = nullptr;
  CHECK(paged_attention::cost(s.a).flops == 4 * 2 * (3 + 4));
}

}  // namespace assay
