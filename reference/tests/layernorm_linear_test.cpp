// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/layernorm_linear.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"
#include "reference/tests/solving.hpp"

namespace assay {
namespace {

std::vector<double> solve(const layernorm_linear::Args& a, std::vector<std::int64_t> sample = {}) {
  std::vector<double> y(static_cast<std::size_t>(a.y.size()), -7);
  test::solve<layernorm_linear>(a, {y}, {.total = a.x.shape[0], .sample = std::move(sample)});
  return y;
}

}  // namespace

TEST_CASE("layernorm_linear: matches values computed by hand", "[golden]") {
  // Rows 1003, 997 and 5, 3: means 1000 and 4, deviations 3 and 1, xhat = 1, -1.  gamma = [2 3], beta = [10 -1]: n = [12 -4].
  // weight = [1 1; 0 -2; 1 0], bias = [0.5 0 -12]: y = [8.5, 8, 0].
  std::vector<double> x{1003, 997, 5, 3}, gamma{2, 3}, beta{10, -1}, weight{1, 1, 0, -2, 1, 0}, bias{0.5, 0, -12}, y(6);
  layernorm_linear::Args a{.x = test::matrix(x, 2, 2),
                           .gamma = test::vector_of(gamma),
                           .beta = test::vector_of(beta),
                           .weight = test::matrix(weight, 3, 2),
                           .bias = test::vector_of(bias),
                           .y = test::matrix(y, 2, 3),
                           .has_bias = true,
                           .epsilon = 0};
  CHECK(solve(a) == std::vector<double>{8.5, 8, 0, 8.5, 8, 0});
  // epsilon is under the root: with 16 the first row's deviation is 5.
  a.epsilon = 16;
  a.has_bias = false;
  a.bias = {};
  CHECK(std::fabs(solve(a)[0] - (0.6 * 2 + 10 - 0.6 * 3 - 1)) < 1e-14);
}

TEST_CASE("layernorm_linear: a constant row gives beta, NaN and inf affect only their token", "[golden]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> x{7, 7, nan, 1, 1, inf, 1, -1}, gamma{2, 3}, beta{10, -1}, weight{1, 1}, y(4);
  const layernorm_linear::Args a{.x = test::matrix(x, 4, 2),
                                 .gamma = test::vector_of(gamma),
                                 .beta = test::vector_of(beta),
                                 .weight = test::matrix(weight, 1, 2),
                                 .y = test::matrix(y, 4, 1)};
  const std::vector<double> all = solve(a);
  CHECK(all[0] == 9);
  CHECK((std::isnan(all[1]) && std::isnan(all[2])));
  CHECK(std::fabs(all[3] - 8) < 1e-4);
  const std::vector<double> some = solve(a, {0, 3});
  CHECK((some[0] == 9 && some[1] == -7 && some[2] == -7 && some[3] == all[3]));
}

TEST_CASE("layernorm_linear: a negative or NaN epsilon is illegal", "[golden]") {
  layernorm_linear::Args a;
  for (const double epsilon : {-1e-9, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    a.epsilon = epsilon;
    CHECK_FALSE(layernorm_linear::legal(a));
  }
}

}  // namespace assay
