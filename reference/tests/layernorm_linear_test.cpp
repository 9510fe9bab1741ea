// SPDX-License-Identifier: Apache-2.0
// Tests the golden against values computed by hand; goldens_test.cpp tests it against the oracle.
#include "ops/layernorm_linear.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"

namespace assay::reference {
void golden(const layernorm_linear::Args&, layernorm_linear::Golden&, const Rows&);
}

namespace assay {
namespace {

struct Solved {
  std::vector<double> y, sum_abs, sum_sq, centred, mean, mean_abs, variance, gain, gain_abs, gain_sq, shift_abs, weight_abs;
};
Solved solve(const layernorm_linear::Args& a, std::vector<std::int64_t> sample = {}) {
  const auto tokens = static_cast<std::size_t>(a.y.shape[0]), out = static_cast<std::size_t>(a.y.shape[1]);
  Solved s;
  for (auto* v : {&s.y, &s.sum_abs, &s.sum_sq, &s.centred}) v->assign(tokens * out, -7);
  for (auto* v : {&s.mean, &s.mean_abs, &s.variance}) v->assign(tokens, -7);
  for (auto* v : {&s.gain, &s.gain_abs, &s.gain_sq, &s.shift_abs, &s.weight_abs}) v->assign(out, -7);
  layernorm_linear::Golden g{s.y,        s.sum_abs, s.sum_sq,   s.centred, s.mean,      s.mean_abs,
                             s.variance, s.gain,    s.gain_abs, s.gain_sq, s.shift_abs, s.weight_abs};
  reference::golden(a, g, {.total = a.x.shape[0], .sample = std::move(sample)});
  return s;
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
                           .epsilon = 0};
  const Solved s = solve(a);
  CHECK(s.y == std::vector<double>{8.5, 8, 0, 8.5, 8, 0});
  CHECK(s.sum_abs == std::vector<double>{16, 8, 12, 16, 8, 12});
  CHECK(s.sum_sq == std::vector<double>{160, 64, 144, 160, 64, 144});
  CHECK(s.centred == std::vector<double>{1, 6, 2, 1, 6, 2});
  CHECK(s.mean == std::vector<double>{1000, 4});
  CHECK(s.mean_abs == std::vector<double>{1000, 4});
  CHECK(s.variance == std::vector<double>{9, 1});
  CHECK(s.gain == std::vector<double>{5, 6, 2});
  CHECK(s.gain_abs == std::vector<double>{5, 6, 2});
  CHECK(s.gain_sq == std::vector<double>{13, 36, 4});
  CHECK(s.shift_abs == std::vector<double>{11, 2, 10});
  CHECK(s.weight_abs == std::vector<double>{7, 8, 3});
  // epsilon is under the root: with 16 the first row's deviation is 5.
  a.epsilon = 16;
  a.bias = {};
  CHECK(std::fabs(solve(a).y[0] - (0.6 * 2 + 10 - 0.6 * 3 - 1)) < 1e-14);
}

TEST_CASE("layernorm_linear: a constant row gives beta, NaN and inf affect only their token", "[golden]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> x{7, 7, nan, 1, 1, inf, 1, -1}, gamma{2, 3}, beta{10, -1}, weight{1, 1}, y(4);
  const layernorm_linear::Args a{.x = test::matrix(x, 4, 2),
                                 .gamma = test::vector_of(gamma),
                                 .beta = test::vector_of(beta),
                                 .weight = test::matrix(weight, 1, 2),
                                 .y = test::matrix(y, 4, 1)};
  const std::vector<double> all = solve(a).y;
  CHECK(all[0] == 9);
  CHECK((std::isnan(all[1]) && std::isnan(all[2])));
  CHECK(std::fabs(all[3] - 8) < 1e-4);
  const std::vector<double> some = solve(a, {0, 3}).y;
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
