// SPDX-License-Identifier: Apache-2.0
// Tests the golden against values computed by hand; goldens_test.cpp tests it against the oracle.
#include "ops/ffn_gelu.hpp"

#include <array>
#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"

namespace assay::reference {
void golden(const ffn_gelu::Args&, ffn_gelu::Golden&, const Rows&);
}

namespace assay {
namespace {

struct Solved {
  std::vector<double> y, sum_abs, sum_sq, product_abs, product_sq, product_bias, stored_abs, stored_sq, function_abs,
      argument_abs, weight_abs;
};
Solved solve(const ffn_gelu::Args& a, std::vector<std::int64_t> sample = {}) {
  const auto n = static_cast<std::size_t>(a.y.size());
  Solved s;
  for (auto* v : {&s.y, &s.sum_abs, &s.sum_sq, &s.product_abs, &s.product_sq, &s.product_bias, &s.stored_abs, &s.stored_sq,
                  &s.function_abs, &s.argument_abs, &s.weight_abs})
    v->assign(n, -7);
  ffn_gelu::Golden g{s.y,          s.sum_abs,   s.sum_sq,       s.product_abs,  s.product_sq, s.product_bias,
                     s.stored_abs, s.stored_sq, s.function_abs, s.argument_abs, s.weight_abs};
  reference::golden(a, g, {.total = a.x.shape[0], .sample = std::move(sample)});
  return s;
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
                   .form = Activation::gelu_erf};
  const double phi = 0.3085375387259869;  // Phi(-1/2)
  const Solved s = solve(a);
  CHECK(s.y[0] == 101);
  CHECK(std::fabs(s.y[1] - (2 * phi + 3)) < 1e-15);
  CHECK(s.sum_abs[0] == 100);
  CHECK(std::fabs(s.sum_sq[1] - 4 * phi * phi) < 1e-15);
  CHECK(s.weight_abs == std::vector<double>{9, 5});
  // Unit 0: A = 50, S = sqrt(30^2 + 20^2), p = z = 50, tau = 100/128, f' = 1 and g = kSlope; unit 2 is flat: g = 0.
  CHECK(std::fabs(s.product_abs[0] - 2 * 1.13 * 50) < 1e-10);
  CHECK(std::fabs(std::sqrt(s.product_sq[0]) - 2 * 1.13 * (std::sqrt(1300.0) + 50)) < 1e-10);
  CHECK(std::fabs(s.product_bias[0] - 2 * 50) < 1e-10);
  CHECK(std::fabs(s.stored_abs[0] - 2 * 1.13 * 50) < 1e-10);
  CHECK(std::fabs(s.argument_abs[0] - (2 * (50 + 100.0 / 128) + 7 * (40 + 80.0 / 128))) < 1e-10);
  // Unit 1 alone in y[1], but for unit 2: z = -1/2, p = -1, m = 1; f' = Phi(z) + z phi(z) = 0.13250...
  const double tau = 3.5 / 128, g = 0.13250487 + 0.798 * tau;
  CHECK(std::fabs(s.stored_abs[1] - 4 * g) < 1e-6);
  CHECK(std::fabs(s.product_bias[1] - 4 * 0.13250487) < 1e-6);

  // Without biases z = [50, -1, -40]; the tanh form of -1 is -0.15880800939172324.
  a.b1 = a.b2 = {};
  a.form = Activation::gelu_tanh;
  const Solved t = solve(a);
  CHECK(t.y[0] == 100);
  CHECK(std::fabs(t.y[1] - 4 * 0.15880800939172324) < 1e-15);
}

TEST_CASE("ffn_gelu: NaN and inf reach only what depends on them; only the sampled rows are computed", "[golden]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> x{nan, inf, -inf, 40}, w1{1}, w2{2}, y(4);
  const ffn_gelu::Args a{
      .x = test::matrix(x, 4, 1), .w1 = test::matrix(w1, 1, 1), .w2 = test::matrix(w2, 1, 1), .y = test::matrix(y, 4, 1)};
  const std::vector<double> all = solve(a).y;
  CHECK((std::isnan(all[0]) && all[1] == inf && std::isnan(all[2]) && all[3] == 80));
  const std::vector<double> some = solve(a, {1, 3}).y;
  CHECK((some[0] == -7 && some[1] == inf && some[2] == -7 && some[3] == 80));
}

}  // namespace assay
