// SPDX-License-Identifier: Apache-2.0
// Tests the golden against values computed by hand.
#include "ops/layernorm.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"

namespace assay::reference {
void golden(const layernorm::Args&, layernorm::Golden&, const Rows&);
}

namespace assay {
namespace {

using test::matrix;
using test::vector_of;
using Values = std::vector<double>;

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

struct Solved {
  Values y, mean, mean_abs, variance;
};

Solved solve(Values x, Values gamma, Values beta, std::int64_t rows, double epsilon) {
  const auto cols = static_cast<std::int64_t>(gamma.size());
  Solved s{Values(x.size()), Values(rows), Values(rows), Values(rows)};
  Values y(x.size());
  const layernorm::Args a{.x = matrix(x, rows, cols),
                          .gamma = vector_of(gamma),
                          .beta = vector_of(beta),
                          .y = matrix(y, rows, cols),
                          .epsilon = epsilon};
  layernorm::Golden g{s.y, s.mean, s.mean_abs, s.variance};
  reference::golden(a, g, {.total = rows});
  return s;
}

}  // namespace

TEST_CASE("layernorm: matches values computed by hand", "[golden]") {
  // Row 0: 1 2 3 4 5 has mean 3 and variance (4+1+0+1+4)/5 = 2; with epsilon 2, 1/sqrt(4) = 1/2.
  // Row 1: -3 -3 3 3 0 has mean 0 and variance 36/5; with epsilon 2, 1/sqrt(46/5) = sqrt(5/46).
  const Solved s = solve({1, 2, 3, 4, 5, -3, -3, 3, 3, 0}, {1, 2, 3, 4, 5}, {0, 0, 1, 1, -1}, 2, 2);
  CHECK(s.mean == Values{3, 0});
  CHECK(s.variance[0] == 2);
  CHECK(s.mean_abs[1] == 12.0 / 5);
  CHECK(Values(s.y.begin(), s.y.begin() + 5) == Values{-1, -1, 1, 3, 4});
  const double r = std::sqrt(5.0 / 46);
  const double row1[] = {-3 * r, -6 * r, 9 * r + 1, 12 * r + 1, -1};
  for (int i = 0; i < 5; ++i) CHECK(std::fabs(s.y[5 + i] - row1[i]) < 1e-15 * 16);
}

TEST_CASE("layernorm: a constant row gives beta; one column too; without epsilon NaN", "[golden]") {
  CHECK(solve({7, 7, 7}, {100, 200, 300}, {0.5, 0.25, -1}, 1, 1e-5).y == Values{0.5, 0.25, -1});
  CHECK(solve({3, -4}, {5}, {2}, 2, 1e-5).y == Values{2, 2});
  CHECK(std::isnan(solve({3}, {5}, {2}, 1, 0).y[0]));
}

TEST_CASE("layernorm: NaN and inf affect only their row", "[golden]") {
  const Solved s = solve({1, kNan, -1, 1, 1, kInf}, {1, 1}, {0, 0}, 3, 0);
  CHECK((std::isnan(s.y[0]) && std::isnan(s.y[1])));
  CHECK(Values(s.y.begin() + 2, s.y.begin() + 4) == Values{-1, 1});
  CHECK((std::isnan(s.y[4]) && std::isnan(s.y[5])));
}

TEST_CASE("layernorm: a mean of 1e6 deviations loses no digits", "[golden]") {
  CHECK(solve({1e6 - 1, 1e6 + 1}, {1, 1}, {0, 0}, 1, 0).y == Values{-1, 1});
}

}  // namespace assay
