// SPDX-License-Identifier: Apache-2.0
// Tests the golden against values computed by hand; goldens_test.cpp tests it against the oracle.
#include "ops/rmsnorm_gemm.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"

namespace assay::reference {
void golden(const rmsnorm_gemm::Args&, rmsnorm_gemm::Golden&, const Rows&);
}

namespace assay {
namespace {

struct Solved {
  std::vector<double> y, sum_abs, sum_sq, square, row_abs, weight_abs;
};

Solved solve(std::vector<double> x, std::vector<double> gamma, std::vector<double> weight, double epsilon,
             std::vector<std::int64_t> sample = {}) {
  const auto hidden = static_cast<std::int64_t>(gamma.size());
  const std::int64_t tokens = static_cast<std::int64_t>(x.size()) / hidden,
                     out = static_cast<std::int64_t>(weight.size()) / hidden;
  const std::vector<double> untouched(static_cast<std::size_t>(tokens * out), -7), of_row(static_cast<std::size_t>(tokens), -7);
  std::vector<double> y(untouched);
  Solved s{untouched, untouched, untouched, of_row, of_row, std::vector<double>(static_cast<std::size_t>(out))};
  const rmsnorm_gemm::Args a{.x = test::matrix(x, tokens, hidden),
                             .gamma = test::vector_of(gamma),
                             .weight = test::matrix(weight, out, hidden),
                             .y = test::matrix(y, tokens, out),
                             .epsilon = epsilon};
  rmsnorm_gemm::Golden g{s.y, s.sum_abs, s.sum_sq, s.square, s.row_abs, s.weight_abs};
  reference::golden(a, g, {.total = tokens, .sample = std::move(sample)});
  return s;
}

}  // namespace

TEST_CASE("rmsnorm_gemm: matches values computed by hand", "[golden]") {
  // x = [3 1 1 1; 0 0 0 8], gamma = [1 2 -1 0.5], weight = [1 1 1 1; 0 2 0 -4], epsilon = 1.
  // Row 0: mean square 12/4 = 3, r = 1/2, x r gamma = [1.5 1 -0.5 0.25]: y = 2.25, 2 - 1 = 1.
  // Row 1: mean square 16, r = 1/sqrt(17), x r gamma = [0 0 0 4r]: y = 4r, -16r.
  const Solved s = solve({3, 1, 1, 1, 0, 0, 0, 8}, {1, 2, -1, 0.5}, {1, 1, 1, 1, 0, 2, 0, -4}, 1);
  const double r = 1 / std::sqrt(17.0);
  CHECK(s.square == std::vector<double>{3, 16});
  CHECK((s.y[0] == 2.25 && s.y[1] == 1));
  CHECK((std::fabs(s.y[2] - 4 * r) < 1e-15 && std::fabs(s.y[3] + 16 * r) < 1e-15));
  CHECK((s.sum_abs[0] == 3.25 && s.sum_abs[1] == 3));
  CHECK((s.sum_sq[0] == 3.5625 && s.sum_sq[1] == 5));
  CHECK((s.row_abs[0] == 3 && std::fabs(s.row_abs[1] - 8 * r) < 1e-15));
  CHECK(s.weight_abs == std::vector<double>{8.5, 12});  // (1+1) + (1+2) + (1+1) + (1+0.5); 2 (1+2) + 4 (1+0.5)
}

TEST_CASE("rmsnorm_gemm: rows of zeros, NaN and inf", "[golden]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Solved s = solve({0, 0, nan, 1, inf, 1, 2, 2}, {1, 1}, {1, 1}, 1e-5);
  CHECK(s.y[0] == 0);
  CHECK((std::isnan(s.y[1]) && std::isnan(s.y[2])));  // inf r = inf 0
  CHECK(std::fabs(s.y[3] - 4 / std::sqrt(4 + 1e-5)) < 1e-15);
  CHECK(std::isnan(solve({0, 0}, {1, 1}, {1, 1}, 0).y[0]));
}

TEST_CASE("rmsnorm_gemm: only the sampled rows are computed", "[golden]") {
  const Solved s = solve({1, -2, 4}, {3}, {1}, 0, {0, 1});
  CHECK(s.y == std::vector<double>{3, -3, -7});
  CHECK(s.square == std::vector<double>{1, 4, -7});
}

}  // namespace assay
