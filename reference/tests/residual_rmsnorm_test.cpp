// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/residual_rmsnorm.hpp"

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

Solved solve(Values x, Values residual, Values gamma, std::int64_t rows, double epsilon) {
  const auto cols = static_cast<std::int64_t>(gamma.size());
  Solved s{Values(x.size()), Values(x.size())};
  test::solve<residual_rmsnorm>({.x = matrix(x, rows, cols),
                                 .residual = matrix(residual, rows, cols),
                                 .gamma = vector_of(gamma),
                                 .y = dense(nullptr, f64, {rows, cols}),
                                 .s = dense(nullptr, f64, {rows, cols}),
                                 .epsilon = epsilon},
                                {s.y, s.s});
  return s;
}

// Of one column, with gamma 1 and epsilon 0.
Solved solve_column(const Tensor& x, const Tensor& residual, NormedSum normed) {
  const std::int64_t rows = x.shape[0];
  Values one{1};
  Solved s{Values(static_cast<std::size_t>(rows)), Values(static_cast<std::size_t>(rows))};
  test::solve<residual_rmsnorm>({.x = x,
                                 .residual = residual,
                                 .gamma = vector_of(one),
                                 .y = dense(nullptr, x.dtype, {rows, 1}),
                                 .s = dense(nullptr, x.dtype, {rows, 1}),
                                 .epsilon = 0,
                                 .sum = normed},
                                {s.y, s.s});
  return s;
}

}  // namespace

TEST_CASE("residual_rmsnorm: matches values computed by hand", "[golden]") {
  // s = 1 -3: mean square 5; with epsilon 4, 1/sqrt(9) = 1/3.  s = 2 4: mean square 10; 1/sqrt(14).
  const Solved s = solve({11, 7, 2, 0}, {-10, -10, 0, 4}, {6, 2}, 2, 4);
  CHECK(s.s == Values{1, -3, 2, 4});
  CHECK(Values(s.y.begin(), s.y.begin() + 2) == Values{2, -2});
  CHECK(std::fabs(s.y[2] - 12 / std::sqrt(14.0)) < 1e-15);
  CHECK(std::fabs(s.y[3] - 8 / std::sqrt(14.0)) < 1e-15);
}

TEST_CASE("residual_rmsnorm: x = -residual gives zeros; without epsilon NaN", "[golden]") {
  const Solved s = solve({7, -1.5}, {-7, 1.5}, {100, 200}, 1, 1e-5);
  CHECK(s.s == Values{0, 0});
  CHECK(s.y == Values{0, 0});
  CHECK(std::isnan(solve({3}, {-3}, {1}, 1, 0).y[0]));
}

TEST_CASE("residual_rmsnorm: NaN makes its row NaN, inf makes itself NaN and the rest of its row 0", "[golden]") {
  const Solved s = solve({1, kNan, 1, -1, 5, 1}, {0, 0, 0, 0, 0, -kInf}, {1, 1}, 3, 0);
  CHECK((std::isnan(s.y[0]) && std::isnan(s.y[1])));
  CHECK(Values(s.y.begin() + 2, s.y.begin() + 5) == Values{1, -1, 0});
  CHECK((s.s[5] == -kInf && std::isnan(s.y[5])));
}

TEST_CASE("residual_rmsnorm: y is computed from the rounded s, or with sum=f32 from the sum itself", "[golden]") {
  // In f16, 2048 + 1 is a tie and rounds to 2048, and 65504 + 65504 to infinity.
  const test::HalfMatrix x(2, 1, {2048, 65504}), residual(2, 1, {1, 65504});
  const Solved rounded = solve_column(x.tensor(), residual.tensor(), NormedSum::rounded);
  CHECK(rounded.s == Values{2048, kInf});
  CHECK((rounded.y[0] == 1 && std::isnan(rounded.y[1])));
  const Solved in_f32 = solve_column(x.tensor(), residual.tensor(), NormedSum::in_f32);
  CHECK(in_f32.s == Values{2048, kInf});
  CHECK(in_f32.y == Values{1, 1});
}

TEST_CASE("residual_rmsnorm: a sum beyond f32 is infinite with either value of sum", "[golden]") {
  const float most = 0x1.fffffep127f;
  std::vector<float> x{most, -most}, residual{most, 0};
  for (const NormedSum normed : {NormedSum::rounded, NormedSum::in_f32}) {
    const Solved s = solve_column(dense(x.data(), f32, {2, 1}), dense(residual.data(), f32, {2, 1}), normed);
    CHECK(s.s == Values{kInf, -static_cast<double>(most)});
    CHECK((std::isnan(s.y[0]) && std::fabs(s.y[1] + 1) < 1e-15));
  }
}

}  // namespace assay
