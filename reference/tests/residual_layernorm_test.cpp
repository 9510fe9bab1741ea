// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/residual_layernorm.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "ops/core/dense.hpp"
#include "reference/tests/golden_testing.hpp"
#include "reference/tests/solving.hpp"

namespace assay {
namespace {

using test::matrix;
using test::vector_of;
using Values = std::vector<double>;

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

struct Solved {
  Values y, s;
};

Solved solve(Values x, Values residual, Values gamma, Values beta, std::int64_t rows, double epsilon) {
  const auto cols = static_cast<std::int64_t>(gamma.size());
  Solved s{Values(x.size()), Values(x.size())};
  test::solve<residual_layernorm>({.x = matrix(x, rows, cols),
                                   .residual = matrix(residual, rows, cols),
                                   .gamma = vector_of(gamma),
                                   .beta = vector_of(beta),
                                   .y = dense(nullptr, f64, {rows, cols}),
                                   .s = dense(nullptr, f64, {rows, cols}),
                                   .epsilon = epsilon},
                                  {s.y, s.s});
  return s;
}

}  // namespace

TEST_CASE("residual_layernorm: matches values computed by hand", "[golden]") {
  // s = 1 2 3 4 5 has mean 3 and variance 2; with epsilon 2, 1/sqrt(4) = 1/2.  s = -1 1 has mean 0 and variance 1.
  const Solved s = solve({-9, 22, -27, 44, -45}, {10, -20, 30, -40, 50}, {1, 2, 3, 4, 5}, {0, 0, 1, 1, -1}, 1, 2);
  CHECK(s.s == Values{1, 2, 3, 4, 5});
  CHECK(s.y == Values{-1, -1, 1, 3, 4});
  CHECK(solve({99, 1}, {-100, 0}, {3, 5}, {1, -1}, 1, 0).y == Values{-2, 4});
}

TEST_CASE("residual_layernorm: x = -residual gives s = 0 and y = beta", "[golden]") {
  const Solved s = solve({7, -1.5, 3}, {-7, 1.5, -3}, {100, 200, 300}, {0.5, 0.25, -1}, 1, 1e-5);
  CHECK(s.s == Values{0, 0, 0});
  CHECK(s.y == Values{0.5, 0.25, -1});
}

TEST_CASE("residual_layernorm: NaN and inf in either input affect only their row", "[golden]") {
  const Solved s = solve({1, kNan, -1, 1, 1, 1}, {0, 0, 0, 0, kInf, 0}, {1, 1}, {0, 0}, 3, 0);
  CHECK((s.s[0] == 1 && std::isnan(s.s[1]) && s.s[4] == kInf && s.s[5] == 1));
  for (const int i : {0, 1, 4, 5}) CHECK(std::isnan(s.y[i]));
  CHECK(Values(s.y.begin() + 2, s.y.begin() + 4) == Values{-1, 1});
}

TEST_CASE("residual_layernorm: y is computed from the rounded s", "[golden]") {
  // In f16, 2048 + 1 is a tie and rounds to 2048, and 65504 + 65504 to infinity.
  using test::HalfMatrix;
  const HalfMatrix x(2, 2, {2048, 0, 65504, 0}), residual(2, 2, {1, 0, 65504, 0});
  Values one{1, 1}, none{0, 0};
  Solved s{Values(4), Values(4)};
  test::solve<residual_layernorm>({.x = x.tensor(),
                                   .residual = residual.tensor(),
                                   .gamma = vector_of(one),
                                   .beta = vector_of(none),
                                   .y = dense(nullptr, f16, {2, 2}),
                                   .s = dense(nullptr, f16, {2, 2}),
                                   .epsilon = 0},
                                  {s.y, s.s});
  CHECK(s.s == Values{2048, 0, kInf, 0});
  CHECK((s.y[0] == 1 && s.y[1] == -1 && std::isnan(s.y[2]) && std::isnan(s.y[3])));
}

}  // namespace assay
