// SPDX-License-Identifier: Apache-2.0
// Tests the golden against values computed by hand.
#include "ops/residual_rmsnorm.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"

namespace assay::reference {
void golden(const residual_rmsnorm::Args&, residual_rmsnorm::Golden&, const Rows&);
}

namespace assay {
namespace {

using test::matrix;
using test::vector_of;
using Values = std::vector<double>;

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

struct Solved {
  Values y, s, square;
};

Solved solve(Values x, Values residual, Values gamma, std::int64_t rows, double epsilon) {
  const auto cols = static_cast<std::int64_t>(gamma.size());
  Solved s{Values(x.size()), Values(x.size()), Values(rows)};
  Values y(x.size()), sum(x.size());
  const residual_rmsnorm::Args a{.x = matrix(x, rows, cols),
                                 .residual = matrix(residual, rows, cols),
                                 .gamma = vector_of(gamma),
                                 .y = matrix(y, rows, cols),
                                 .s = matrix(sum, rows, cols),
                                 .epsilon = epsilon};
  residual_rmsnorm::Golden g{s.y, s.s, s.square};
  reference::golden(a, g, {.total = rows});
  return s;
}

}  // namespace

TEST_CASE("residual_rmsnorm: matches values computed by hand", "[golden]") {
  // s = 1 -3: mean square 5; with epsilon 4, 1/sqrt(9) = 1/3.  s = 2 4: mean square 10; 1/sqrt(14).
  const Solved s = solve({11, 7, 2, 0}, {-10, -10, 0, 4}, {6, 2}, 2, 4);
  CHECK(s.s == Values{1, -3, 2, 4});
  CHECK(s.square == Values{5, 10});
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

TEST_CASE("residual_rmsnorm: y is computed from the rounded s", "[golden]") {
  // In f16, 2048 + 1 is a tie and rounds to 2048, and 65504 + 65504 to infinity.
  using test::HalfMatrix;
  const HalfMatrix x(2, 1, {2048, 65504}), residual(2, 1, {1, 65504}), y(2, 1, {0, 0}), sum = y;
  Values one{1};
  const residual_rmsnorm::Args a{
      .x = x.tensor(), .residual = residual.tensor(), .gamma = vector_of(one), .y = y.tensor(), .s = sum.tensor(), .epsilon = 0};
  Solved s{Values(2), Values(2), Values(2)};
  residual_rmsnorm::Golden g{s.y, s.s, s.square};
  reference::golden(a, g, {.total = 2});
  CHECK(s.s == Values{2048, kInf});
  CHECK(s.square == Values{2048.0 * 2048, kInf});
  CHECK((s.y[0] == 1 && std::isnan(s.y[1])));
}

}  // namespace assay
