// SPDX-License-Identifier: Apache-2.0
// Tests the golden against values computed by hand; goldens_test.cpp tests it against the oracle.
#include "ops/layernorm_residual.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"

namespace assay::reference {
void golden(const layernorm_residual::Args&, layernorm_residual::Golden&, const Rows&);
}

namespace assay {
namespace {

using test::matrix;
using test::vector_of;

struct Solved {
  std::vector<double> y, mean, mean_abs, variance;
};

Solved solve(std::vector<double> x, std::vector<double> residual, std::vector<double> gamma, std::vector<double> beta,
             std::int64_t rows, double epsilon) {
  const auto cols = static_cast<std::int64_t>(gamma.size());
  Solved s{std::vector<double>(x.size()), std::vector<double>(rows), std::vector<double>(rows), std::vector<double>(rows)};
  std::vector<double> y(x.size());
  const layernorm_residual::Args a{.x = matrix(x, rows, cols),
                                   .residual = matrix(residual, rows, cols),
                                   .gamma = vector_of(gamma),
                                   .beta = vector_of(beta),
                                   .y = matrix(y, rows, cols),
                                   .epsilon = epsilon};
  layernorm_residual::Golden g{s.y, s.mean, s.mean_abs, s.variance};
  reference::golden(a, g, {.total = rows});
  return s;
}

}  // namespace

TEST_CASE("layernorm_residual: matches values computed by hand", "[golden]") {
  // Row 0: 1 2 3 4 5 has mean 3 and variance (4+1+0+1+4)/5 = 2; with epsilon 2, 1/sqrt(4) = 1/2.
  // Row 1: -3 -3 3 3 0 has mean 0 and variance 36/5; with epsilon 2, 1/sqrt(46/5) = sqrt(5/46).
  const Solved s =
      solve({1, 2, 3, 4, 5, -3, -3, 3, 3, 0}, {10, 20, 30, 40, 50, 0, 0, 0, 0, 7}, {1, 2, 3, 4, 5}, {0, 0, 1, 1, -1}, 2, 2);
  CHECK(s.mean[0] == 3);
  CHECK(s.variance[0] == 2);
  CHECK(s.mean_abs[1] == 12.0 / 5);
  const double row0[] = {-1.0 + 10, -1.0 + 20, 0 + 1 + 30, 2.0 + 1 + 40, 5.0 - 1 + 50};
  for (int i = 0; i < 5; ++i) CHECK(s.y[i] == row0[i]);
  const double r = std::sqrt(5.0 / 46);
  const double row1[] = {-3 * r, -6 * r, 9 * r + 1, 12 * r + 1, -1.0 + 7};
  for (int i = 0; i < 5; ++i) CHECK(std::fabs(s.y[5 + i] - row1[i]) < 1e-15 * 16);
}

TEST_CASE("layernorm_residual: a constant row gives beta + residual; one column too", "[golden]") {
  const Solved s = solve({7, 7, 7}, {1, 2, 3}, {100, 200, 300}, {0.5, 0.25, -1}, 1, 1e-5);
  CHECK(s.y == std::vector<double>{1.5, 2.25, 2});
  CHECK(solve({3, -4}, {1, 1}, {5}, {2}, 2, 1e-5).y == std::vector<double>{3, 3});
}

TEST_CASE("layernorm_residual: NaN and inf reach only what depends on them", "[golden]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Solved s = solve({1, nan, 1, 2, 1, inf}, {0, 0, 0, -inf, 0, 0}, {1, 1}, {0, 0}, 3, 1e-5);
  CHECK((std::isnan(s.y[0]) && std::isnan(s.y[1])));
  CHECK(std::isfinite(s.y[2]));
  CHECK(s.y[3] == -inf);
  CHECK((std::isnan(s.y[4]) && std::isnan(s.y[5])));
}

TEST_CASE("layernorm_residual: a mean of 1e6 deviations loses no digits", "[golden]") {
  const Solved s = solve({1e6 - 1, 1e6 + 1}, {0, 0}, {1, 1}, {0, 0}, 1, 0);
  CHECK(s.y == std::vector<double>{-1, 1});
}

}  // namespace assay
