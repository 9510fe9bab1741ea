// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/gelu_linear.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"
#include "reference/tests/solving.hpp"

namespace assay {

TEST_CASE("gelu_linear: matches values computed by hand", "[golden]") {
  // x = [1 2; -1 0], weight = [1 1; 2 -1], bias = [-3, 100]: products [3 0; -1 -2], z = [0 100; -4 98].
  std::vector<double> x{1, 2, -1, 0}, weight{1, 1, 2, -1}, bias{-3, 100}, y(4);
  gelu_linear::Args a{.x = test::matrix(x, 2, 2),
                      .weight = test::matrix(weight, 2, 2),
                      .bias = test::vector_of(bias),
                      .y = test::matrix(y, 2, 2),
                      .has_bias = true,
                      .form = Activation::gelu_erf};
  test::solve<gelu_linear>(a, {y});
  CHECK((y[0] == 0 && y[1] == 100 && y[3] == 98));
  CHECK(std::fabs(y[2] + 4 * 3.167124183311992e-05) < 1e-18);  // Phi(-4)

  // Without the bias z = [3 0; -1 -2]; Phi(-1) = 0.158655253931457, Phi(-2) = 0.0227501319481792.
  a.has_bias = false;
  a.bias = {};
  test::solve<gelu_linear>(a, {y});
  CHECK(std::fabs(y[0] - 3 * 0.99865010196837) < 1e-14);
  CHECK(std::fabs(y[2] + 0.158655253931457) < 1e-15);
  CHECK(std::fabs(y[3] + 2 * 0.0227501319481792) < 1e-15);

  // The tanh form: e^v = e^(2 sqrt(2/pi) (z + 0.044715 z^3)); gelu(-1) = -1 / (1 + e^1.667124...).
  a.form = Activation::gelu_tanh;
  test::solve<gelu_linear>(a, {y});
  CHECK(std::fabs(y[2] + 1 / (1 + std::exp(2 * std::sqrt(2 / std::numbers::pi) * 1.044715))) < 1e-15);
  CHECK(std::fabs(y[2] + 0.15880800939172324) < 1e-15);
}

TEST_CASE("gelu_linear: NaN and inf reach only what depends on them", "[golden]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> x{nan, 1, inf, 1, 1, 1}, weight{1, 1, -1, 1}, y(6);
  const gelu_linear::Args a{.x = test::matrix(x, 3, 2), .weight = test::matrix(weight, 2, 2), .y = test::matrix(y, 3, 2)};
  test::solve<gelu_linear>(a, {y});
  CHECK((std::isnan(y[0]) && std::isnan(y[1])));
  CHECK((y[2] == inf && std::isnan(y[3])));
  CHECK((std::isfinite(y[4]) && y[5] == 0));
}

TEST_CASE("gelu_linear: only the sampled rows are computed", "[golden]") {
  std::vector<double> x{40, 50, 60}, weight{1}, y(3, -7);
  const gelu_linear::Args a{.x = test::matrix(x, 3, 1), .weight = test::matrix(weight, 1, 1), .y = test::matrix(y, 3, 1)};
  test::solve<gelu_linear>(a, {y}, {.total = 3, .sample = {0, 2}});
  CHECK(y == std::vector<double>{40, -7, 60});
}

}  // namespace assay
