// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/layernorm_residual.hpp"

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

Values solve(Values x, Values residual, Values gamma, Values beta, std::int64_t rows, double epsilon) {
  const auto cols = static_cast<std::int64_t>(gamma.size());
  Values y(x.size());
  test::solve<layernorm_residual>({.x = matrix(x, rows, cols),
                                   .residual = matrix(residual, rows, cols),
                                   .gamma = vector_of(gamma),
                                   .beta = vector_of(beta),
                                   .y = dense(nullptr, f64, {rows, cols}),
                                   .epsilon = epsilon},
                                  {y});
  return y;
}

}  // namespace

TEST_CASE("layernorm_residual: matches values computed by hand", "[golden]") {
  // Row 0: 1 2 3 4 5 has mean 3 and variance (4+1+0+1+4)/5 = 2; with epsilon 2, 1/sqrt(4) = 1/2.
  // Row 1: -3 -3 3 3 0 has mean 0 and variance 36/5; with epsilon 2, 1/sqrt(46/5) = sqrt(5/46).
  const Values y =
      solve({1, 2, 3, 4, 5, -3, -3, 3, 3, 0}, {10, 20, 30, 40, 50, 0, 0, 0, 0, 7}, {1, 2, 3, 4, 5}, {0, 0, 1, 1, -1}, 2, 2);
  const double row0[] = {-1.0 + 10, -1.0 + 20, 0 + 1 + 30, 2.0 + 1 + 40, 5.0 - 1 + 50};
  for (int i = 0; i < 5; ++i) CHECK(y[i] == row0[i]);
  const double r = std::sqrt(5.0 / 46);
  const double row1[] = {-3 * r, -6 * r, 9 * r + 1, 12 * r + 1, -1.0 + 7};
  for (int i = 0; i < 5; ++i) CHECK(std::fabs(y[5 + i] - row1[i]) < 1e-15 * 16);
}

TEST_CASE("layernorm_residual: a constant row gives beta + residual; one column too", "[golden]") {
  CHECK(solve({7, 7, 7}, {1, 2, 3}, {100, 200, 300}, {0.5, 0.25, -1}, 1, 1e-5) == Values{1.5, 2.25, 2});
  CHECK(solve({3, -4}, {1, 1}, {5}, {2}, 2, 1e-5) == Values{3, 3});
}

TEST_CASE("layernorm_residual: NaN and inf reach only what depends on them", "[golden]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Values y = solve({1, nan, 1, 2, 1, inf}, {0, 0, 0, -inf, 0, 0}, {1, 1}, {0, 0}, 3, 1e-5);
  CHECK((std::isnan(y[0]) && std::isnan(y[1])));
  CHECK(std::isfinite(y[2]));
  CHECK(y[3] == -inf);
  CHECK((std::isnan(y[4]) && std::isnan(y[5])));
}

TEST_CASE("layernorm_residual: a mean of 1e6 deviations loses no digits", "[golden]") {
  CHECK(solve({1e6 - 1, 1e6 + 1}, {0, 0}, {1, 1}, {0, 0}, 1, 0) == Values{-1, 1});
}

}  // namespace assay
