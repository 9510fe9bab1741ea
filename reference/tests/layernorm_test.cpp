// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/layernorm.hpp"

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

Values solve(Values x, Values gamma, Values beta, std::int64_t rows, double epsilon) {
  const auto cols = static_cast<std::int64_t>(gamma.size());
  Values y(x.size());
  test::solve<layernorm>({.x = matrix(x, rows, cols),
                          .gamma = vector_of(gamma),
                          .beta = vector_of(beta),
                          .y = dense(nullptr, f64, {rows, cols}),
                          .epsilon = epsilon},
                         {y});
  return y;
}

}  // namespace

TEST_CASE("layernorm: matches values computed by hand", "[golden]") {
  // Row 0: 1 2 3 4 5 has mean 3 and variance (4+1+0+1+4)/5 = 2; with epsilon 2, 1/sqrt(4) = 1/2.
  // Row 1: -3 -3 3 3 0 has mean 0 and variance 36/5; with epsilon 2, 1/sqrt(46/5) = sqrt(5/46).
  const Values y = solve({1, 2, 3, 4, 5, -3, -3, 3, 3, 0}, {1, 2, 3, 4, 5}, {0, 0, 1, 1, -1}, 2, 2);
  CHECK(Values(y.begin(), y.begin() + 5) == Values{-1, -1, 1, 3, 4});
  const double r = std::sqrt(5.0 / 46);
  const double row1[] = {-3 * r, -6 * r, 9 * r + 1, 12 * r + 1, -1};
  for (int i = 0; i < 5; ++i) CHECK(std::fabs(y[5 + i] - row1[i]) < 1e-15 * 16);
}

TEST_CASE("layernorm: a constant row gives beta; one column too; without epsilon NaN", "[golden]") {
  CHECK(solve({7, 7, 7}, {100, 200, 300}, {0.5, 0.25, -1}, 1, 1e-5) == Values{0.5, 0.25, -1});
  CHECK(solve({3, -4}, {5}, {2}, 2, 1e-5) == Values{2, 2});
  CHECK(std::isnan(solve({3}, {5}, {2}, 1, 0)[0]));
}

TEST_CASE("layernorm: NaN and inf affect only their row", "[golden]") {
  const Values y = solve({1, kNan, -1, 1, 1, kInf}, {1, 1}, {0, 0}, 3, 0);
  CHECK((std::isnan(y[0]) && std::isnan(y[1])));
  CHECK(Values(y.begin() + 2, y.begin() + 4) == Values{-1, 1});
  CHECK((std::isnan(y[4]) && std::isnan(y[5])));
}

TEST_CASE("layernorm: a mean of 1e6 deviations loses no digits", "[golden]") {
  CHECK(solve({1e6 - 1, 1e6 + 1}, {1, 1}, {0, 0}, 1, 0) == Values{-1, 1});
}

}  // namespace assay
