// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/rmsnorm_gemm.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "ops/core/dense.hpp"
#include "reference/tests/golden_testing.hpp"
#include "reference/tests/solving.hpp"

namespace assay {
namespace {

using Values = std::vector<double>;

Values solve(Values x, Values gamma, Values weight, double epsilon, std::vector<std::int64_t> sample = {}) {
  const auto hidden = static_cast<std::int64_t>(gamma.size());
  const std::int64_t tokens = static_cast<std::int64_t>(x.size()) / hidden,
                     out = static_cast<std::int64_t>(weight.size()) / hidden;
  Values y(static_cast<std::size_t>(tokens * out), -7);
  test::solve<rmsnorm_gemm>({.x = test::matrix(x, tokens, hidden),
                             .gamma = test::vector_of(gamma),
                             .weight = test::matrix(weight, out, hidden),
                             .y = dense(nullptr, f64, {tokens, out}),
                             .epsilon = epsilon},
                            {y}, {.total = tokens, .sample = std::move(sample)});
  return y;
}

}  // namespace

TEST_CASE("rmsnorm_gemm: matches values computed by hand", "[golden]") {
  // x = [3 1 1 1; 0 0 0 8], gamma = [1 2 -1 0.5], weight = [1 1 1 1; 0 2 0 -4], epsilon = 1.
  // Row 0: mean square 12/4 = 3, r = 1/2, x r gamma = [1.5 1 -0.5 0.25]: y = 2.25, 2 - 1 = 1.
  // Row 1: mean square 16, r = 1/sqrt(17), x r gamma = [0 0 0 4r]: y = 4r, -16r.
  const Values y = solve({3, 1, 1, 1, 0, 0, 0, 8}, {1, 2, -1, 0.5}, {1, 1, 1, 1, 0, 2, 0, -4}, 1);
  const double r = 1 / std::sqrt(17.0);
  CHECK((y[0] == 2.25 && y[1] == 1));
  CHECK((std::fabs(y[2] - 4 * r) < 1e-15 && std::fabs(y[3] + 16 * r) < 1e-15));
}

TEST_CASE("rmsnorm_gemm: rows of zeros, NaN and inf", "[golden]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Values y = solve({0, 0, nan, 1, inf, 1, 2, 2}, {1, 1}, {1, 1}, 1e-5);
  CHECK(y[0] == 0);
  CHECK((std::isnan(y[1]) && std::isnan(y[2])));  // inf r = inf 0
  CHECK(std::fabs(y[3] - 4 / std::sqrt(4 + 1e-5)) < 1e-15);
  CHECK(std::isnan(solve({0, 0}, {1, 1}, {1, 1}, 0)[0]));
}

TEST_CASE("rmsnorm_gemm: only the sampled rows are computed", "[golden]") {
  CHECK(solve({1, -2, 4}, {3}, {1}, 0, {0, 1}) == Values{3, -3, -7});
}

}  // namespace assay
