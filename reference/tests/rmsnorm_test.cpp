// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/rmsnorm.hpp"

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

Values solve(Values x, Values gamma, std::int64_t rows, double epsilon) {
  const auto cols = static_cast<std::int64_t>(gamma.size());
  Values y(x.size());
  test::solve<rmsnorm>(
      {.x = matrix(x, rows, cols), .gamma = vector_of(gamma), .y = dense(nullptr, f64, {rows, cols}), .epsilon = epsilon}, {y});
  return y;
}

}  // namespace

TEST_CASE("rmsnorm: matches values computed by hand", "[golden]") {
  // Row 0: 1 -3 mean square 5; with epsilon 4, 1/sqrt(9) = 1/3.  Row 1: 2 4 mean square 10; 1/sqrt(14).
  const Values y = solve({1, -3, 2, 4}, {6, 2}, 2, 4);
  CHECK(Values(y.begin(), y.begin() + 2) == Values{2, -2});
  CHECK(std::fabs(y[2] - 12 / std::sqrt(14.0)) < 1e-15);
  CHECK(std::fabs(y[3] - 8 / std::sqrt(14.0)) < 1e-15);
}

TEST_CASE("rmsnorm: the mean is not subtracted, and zeros give zeros; without epsilon NaN", "[golden]") {
  CHECK(solve({7, 7, 7}, {1, 2, -3}, 1, 0) == Values{1, 2, -3});
  CHECK(solve({0, 0}, {1, 2}, 1, 1e-5) == Values{0, 0});
  CHECK(std::isnan(solve({0}, {1}, 1, 0)[0]));
}

TEST_CASE("rmsnorm: NaN makes its row NaN, inf makes itself NaN and the rest of its row 0", "[golden]") {
  const Values y = solve({1, kNan, 1, -1, 5, kInf}, {1, 1}, 3, 0);
  CHECK((std::isnan(y[0]) && std::isnan(y[1])));
  CHECK(Values(y.begin() + 2, y.begin() + 5) == Values{1, -1, 0});
  CHECK(std::isnan(y[5]));
}

}  // namespace assay
