// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/rope.hpp"

#include <limits>
#include <tuple>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"
#include "reference/tests/solving.hpp"
#include "validate/problem/typed/op_adapter.hpp"

namespace assay {
namespace {

Tensor cube(std::vector<double>& v, std::int64_t batch, std::int64_t seq, std::int64_t heads) {
  const std::int64_t dim = static_cast<std::int64_t>(v.size()) / (batch * seq * heads);
  return {.data = v.data(),
          .dtype = f64,
          .rank = 4,
          .shape = {batch, seq, heads, dim},
          .stride = {seq * heads * dim, heads * dim, dim, 1}};
}
Tensor ids(std::vector<std::int32_t>& v, std::int64_t batch) {
  const std::int64_t seq = static_cast<std::int64_t>(v.size()) / batch;
  return {.data = v.data(), .dtype = i32, .rank = 2, .shape = {batch, seq}, .stride = {seq, 1}};
}

struct Solved {
  std::vector<double> q, k;
};
Solved solve(const rope::Args& a, std::vector<std::int64_t> sample = {}) {
  Solved s{std::vector<double>(static_cast<std::size_t>(a.q.size()), -7),
           std::vector<double>(static_cast<std::size_t>(a.k.size()), -7)};
  test::solve<rope>(a, {s.q, s.k}, {.total = a.q.size() / a.q.shape[3], .sample = std::move(sample)});
  return s;
}
bool close(const std::vector<double>& got, const std::vector<double>& want) {
  if (got.size() != want.size()) return false;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::fabs(got[i] - want[i]) < 1e-14 * (1 + std::fabs(want[i])))) return false;
  return true;
}

}  // namespace

TEST_CASE("rope: both layouts, matches values computed by hand", "[golden]") {
  // head_dim 4, base 10^4: frequencies 1 and 1/100.  At position 1 the pair (1, 0) becomes (cos, sin) of 1 and of 0.01.
  std::vector<double> q{0, 0, 0, 0, 1, 2, 0, 0}, k{5, 6, 7, 8, 0, 0, 1, 2};
  rope::Args a{.q = cube(q, 1, 2, 1), .k = cube(k, 1, 2, 1), .q_out = cube(q, 1, 2, 1), .k_out = cube(k, 1, 2, 1)};
  const double c1 = std::cos(1.0), s1 = std::sin(1.0), c2 = std::cos(0.01), s2 = std::sin(0.01);
  const Solved half = solve(a);
  CHECK(close(half.q, {0, 0, 0, 0, c1, 2 * c2, s1, 2 * s2}));
  CHECK(close(half.k, {5, 6, 7, 8, -s1, -2 * s2, c1, 2 * c2}));
  a.layout = rope::Layout::interleaved;
  const Solved neighbours = solve(a);
  CHECK(close(neighbours.q, {0, 0, 0, 0, c1 - 2 * s1, s1 + 2 * c1, 0, 0}));
  CHECK(close(neighbours.k, {5, 6, 7, 8, 0, 0, c2 - 2 * s2, s2 + 2 * c2}));
}

TEST_CASE("rope: rotary_dim sets the frequencies; the rest and an odd channel are copied", "[golden]") {
  std::vector<double> q{1, 0, 9, 8}, k{1, 0, 3};
  rope::Args a{.q = cube(q, 1, 1, 1),
               .k = cube(q, 1, 1, 1),
               .q_out = cube(q, 1, 1, 1),
               .k_out = cube(q, 1, 1, 1),
               .rotary_dim = 2,
               .offset = 3};
  CHECK(close(solve(a).q, {std::cos(3.0), std::sin(3.0), 9, 8}));
  a.q = a.k = a.q_out = a.k_out = cube(k, 1, 1, 1);
  a.rotary_dim = 0;
  CHECK(close(solve(a).q, {std::cos(3.0), std::sin(3.0), 3}));
}

TEST_CASE("rope: explicit positions plus offset, another base, large positions", "[golden]") {
  std::vector<double> q{1, 0, 1, 0, 1, 0, 1, 0};
  std::vector<std::int32_t> at{7, 0, 131071, 2};
  rope::Args a{.q = cube(q, 2, 2, 1),
               .k = cube(q, 2, 2, 1),
               .positions = ids(at, 2),
               .q_out = cube(q, 2, 2, 1),
               .k_out = cube(q, 2, 2, 1),
               .explicit_positions = true};
  // cos and sin of 131071, to 16 digits (131071 = 20860 turns and 3.413...): by the addition theorem from cos 1 and sin 1.
  double c = 1, s = 0, c2 = std::cos(1.0), s2 = std::sin(1.0);
  for (int n = 131071; n; n >>= 1) {
    if (n & 1) std::tie(c, s) = std::pair(c * c2 - s * s2, s * c2 + c * s2);
    std::tie(c2, s2) = std::pair(c2 * c2 - s2 * s2, 2 * c2 * s2);
  }
  const std::vector<double> out = solve(a).q;
  CHECK(std::fabs(out[0] - std::cos(7.0)) < 1e-15);
  CHECK(out[2] == 1);
  CHECK(out[3] == 0);
  CHECK((std::fabs(out[4] - c) < 1e-10 && std::fabs(out[5] - s) < 1e-10));
  a.offset = 5;
  CHECK(std::fabs(solve(a).q[2] - std::cos(5.0)) < 1e-15);
  a.offset = 0;
  a.positions = {};
  a.explicit_positions = false;
  a.base = 16;
  std::vector<double> wide{0, 1, 0, 0};
  a.q = a.k = a.q_out = a.k_out = cube(wide, 1, 1, 1);
  a.offset = 4;  // the second pair's frequency is 1/4
  CHECK(close(solve(a).q, {0, std::cos(1.0), 0, std::sin(1.0)}));
}

TEST_CASE("rope: a table of frequencies, by the index of the pair in both layouts, of which only the pairs are read",
          "[golden]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> q{1, 1, 0, 0, 9}, pairs{1, 0, 1, 0, 9};
  std::vector<double> table{0.5, 0.25, 1, 0, 1};
  rope::Args a{.q = cube(q, 1, 1, 1),
               .k = cube(q, 1, 1, 1),
               .frequencies = {.data = table.data(), .dtype = f64, .rank = 1, .shape = {5}, .stride = {1}},
               .q_out = cube(q, 1, 1, 1),
               .k_out = cube(q, 1, 1, 1),
               .given_frequencies = true,
               .base = 7,
               .offset = 4};
  CHECK(legal_arguments<rope>(a));
  CHECK(close(solve(a).q, {std::cos(2.0), std::cos(1.0), std::sin(2.0), std::sin(1.0), 9}));
  a.layout = rope::Layout::interleaved;
  a.q = a.k = cube(pairs, 1, 1, 1);
  CHECK(close(solve(a).q, {std::cos(2.0), std::sin(2.0), std::cos(1.0), std::sin(1.0), 9}));
  for (const double wrong : {-1e-9, 1 + 1e-9, nan}) {
    table[1] = wrong;
    CHECK_THAT(legal_arguments<rope>(a).why, Catch::Matchers::StartsWith("frequencies[1] is "));
  }
}

TEST_CASE("rope: k has its own heads, and a sample of rows computes the keys of its groups", "[golden]") {
  std::vector<double> q{1, 0, 2, 0, 3, 0, 4, 0}, k{5, 0, 6, 0};
  rope::Args a{.q = cube(q, 1, 1, 4), .k = cube(k, 1, 1, 2), .q_out = cube(q, 1, 1, 4), .k_out = cube(k, 1, 1, 2)};
  CHECK(solve(a).q == q);
  CHECK(solve(a).k == k);
  const Solved of_heads = solve(a, {2, 3});
  CHECK(std::vector<double>(of_heads.q.begin() + 4, of_heads.q.end()) == std::vector<double>{3, 0, 4, 0});
  CHECK(std::vector<double>(of_heads.k.begin() + 2, of_heads.k.end()) == std::vector<double>{6, 0});
  CHECK(rope::row_of(a, 1, 2) == 2);
  CHECK(rope::row_of(a, 0, 6) == 3);
  // Nothing is computed of a sequence without a sampled row.
  a.q = a.q_out = cube(q, 2, 1, 2);
  a.k = a.k_out = cube(k, 2, 1, 1);
  CHECK(solve(a, {2, 3}).q == std::vector<double>{-7, -7, -7, -7, 3, 0, 4, 0});
  CHECK(solve(a, {2, 3}).k == std::vector<double>{-7, -7, 6, 0});
}

TEST_CASE("rope: NaN and infinities affect only their pair", "[golden]") {
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<double> q{inf, 1, 2, 3};
  const rope::Args a{
      .q = cube(q, 1, 1, 1), .k = cube(q, 1, 1, 1), .q_out = cube(q, 1, 1, 1), .k_out = cube(q, 1, 1, 1), .offset = 1};
  const std::vector<double> out = solve(a).q;
  CHECK((out[0] == inf && out[2] == inf));
  CHECK((std::isfinite(out[1]) && std::isfinite(out[3])));
}

TEST_CASE("rope: illegal arguments are named", "[golden]") {
  std::vector<double> q(16), k(8);
  std::vector<std::int32_t> at{0, -1};
  rope::Args a{.q = cube(q, 1, 2, 2), .k = cube(k, 1, 2, 1), .q_out = cube(q, 1, 2, 2), .k_out = cube(k, 1, 2, 1)};
  const auto with = [&](auto change) {
    rope::Args b = a;
    change(b);
    return legal_arguments<rope>(b).why;
  };
  CHECK(legal_arguments<rope>(a));
  CHECK(with([](rope::Args& b) { b.rotary_dim = 3; }) == "rotary_dim must be even and no more than head_dim");
  CHECK(with([](rope::Args& b) { b.rotary_dim = 6; }) == "rotary_dim must be even and no more than head_dim");
  CHECK(with([](rope::Args& b) { b.base = 0.5; }) == "base must be 0 or between 1 and 2^60");
  CHECK(with([](rope::Args& b) { b.offset = 0.5; }) == "offset must be a whole number");
  CHECK(with([](rope::Args& b) { b.offset = -1; }) == "the position of token 0 is not one of 0 ... 2^24");
  CHECK(with([](rope::Args& b) { b.offset = 0x1p24; }) == "the position of token 1 is not one of 0 ... 2^24");
  CHECK(with([&](rope::Args& b) { b.positions = ids(at, 1); }) == "the position of token 1 is not one of 0 ... 2^24");
  CHECK(with([&](rope::Args& b) {
          b.q = cube(k, 1, 2, 1);
          b.k = cube(q, 1, 2, 2);
        }) == "heads must be a multiple of kv_heads");
}

}  // namespace assay
