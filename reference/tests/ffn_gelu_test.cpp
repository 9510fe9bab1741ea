// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/ffn_gelu.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"
#include "reference/tests/solving.hpp"

namespace assay {
namespace {

std::vector<double> solve(const ffn_gelu::Args& a, std::vector<std::int64_t> sample = {}) {
  std::vector<double> y(static_cast<std::size_t>(a.y.size()), -7);
  test::solve<ffn_gelu>(a, {y}, {.total = a.x.shape[0], .sample = std::move(sample)});
  return y;
}

}  // namespace

TEST_CASE("ffn_gelu: matches values computed by hand", "[golden]") {
  // x = [1 2], w1 = [30 10; 1 -1; -40 0], b1 = [0 0.5 0]: z = [50, -0.5, -40], h = [50, -0.5 Phi(-0.5), 0 to 1e-300].
  // w2 = [2 0 7; 0 -4 1; ...]: y = [100 + 1, 2 Phi(-0.5) + 3].
  std::vector<double> x{1, 2}, w1{30, 10, 1, -1, -40, 0}, b1{0, 0.5, 0}, w2{2, 0, 7, 0, -4, 1}, b2{1, 3}, y(2);
  ffn_gelu::Args a{.x = test::matrix(x, 1, 2),
                   .w1 = test::matrix(w1, 3, 2),
                   .b1 = test::vector_of(b1),
                   .w2 = test::matrix(w2, 2, 3),
                   .b2 = test::vector_of(b2),
                   .y = test::matrix(y, 1, 2),
                   .has_bias = true,
                   .form = Activation::gelu_erf};
  const double phi = 0.3085375387259869;  // Phi(-1/2)
  const std::vector<double> erf = solve(a);
  CHECK(erf[0] == 101);
  CHECK(std::fabs(erf[1] - (2 * phi + 3)) < 1e-15);

  // Without biases z = [50, -1, -40]; the tanh form of -1 is -0.15880800939172324.
  a.has_bias = false;
  a.b1 = a.b2 = {};
  a.form = Activation::gelu_tanh;
  const std::vector<double> tanh = solve(a);
  CHECK(tanh[0] == 100);
  CHECK(std::fabs(tanh[1] - 4 * 0.15880800939172324) < 1e-15);
}

TEST_CASE("ffn_gelu: NaN and inf reach only what depends on them; only the sampled rows are computed", "[golden]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> x{nan, inf, -inf, 40}, w1{1}, w2{2}, y(4);
  const ffn_gelu::Args a{
      .x = test::matrix(x, 4, 1), .w1 = test::matrix(w1, 1, 1), .w2 = test::matrix(w2, 1, 1), .y = test::matrix(y, 4, 1)};
  const std::vector<double> all = solve(a);
  CHECK((std::isnan(all[0]) && all[1] == inf && std::isnan(all[2]) && all[3] == 80));
  const std::vector<double> some = solve(a, {1, 3});
  CHECK((some[0] == -7 && some[1] == inf && some[2] == -7 && some[3] == 80));
}

}  // namespace assay
