// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/gemm_swiglu.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"
#include "reference/tests/solving.hpp"

namespace assay {
namespace {

std::vector<double> solve(std::vector<double> x, std::vector<double> w_gate, std::vector<double> w_up, std::int64_t tokens,
                          std::int64_t ffn, Rows rows) {
  const std::int64_t hidden = static_cast<std::int64_t>(x.size()) / tokens;
  std::vector<double> y(static_cast<std::size_t>(tokens * ffn), -7);
  const gemm_swiglu::Args a{.x = test::matrix(x, tokens, hidden),
                            .w_gate = test::matrix(w_gate, ffn, hidden),
                            .w_up = test::matrix(w_up, ffn, hidden),
                            .y = test::matrix(y, tokens, ffn)};
  test::solve<gemm_swiglu>(a, {y}, rows);
  return y;
}

}  // namespace

TEST_CASE("gemm_swiglu: matches values computed by hand", "[golden]") {
  // x = [1 2; 3 -1], w_gate = [32 4; 1 -0.5], w_up = [1 1; -2 0]: gate = [40 0; 92 3.5], up = [3 -2; 2 -6].
  // silu(40) = 40 and silu(92) = 92 to the last bit of f64; silu(0) = 0; silu(3.5) = 3.5 / (1 + e^-3.5).
  const std::vector<double> y = solve({1, 2, 3, -1}, {32, 4, 1, -0.5}, {1, 1, -2, 0}, 2, 2, {.total = 2});
  CHECK((y[0] == 120 && y[1] == 0 && y[2] == 184));
  CHECK(std::fabs(y[3] + 21 / (1 + std::exp(-3.5))) < 1e-14);
}

TEST_CASE("gemm_swiglu: NaN and inf reach only what depends on them", "[golden]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> y = solve({nan, inf, 1}, {1, -1}, {2, 2}, 3, 2, {.total = 3});
  CHECK((std::isnan(y[0]) && std::isnan(y[1])));
  CHECK((y[2] == inf && std::isnan(y[3])));  // silu(-inf) is NaN
  CHECK((std::isfinite(y[4]) && std::isfinite(y[5])));
}

TEST_CASE("gemm_swiglu: only the sampled rows are computed", "[golden]") {
  const std::vector<double> y = solve({1, 2, 3}, {64}, {1}, 3, 1, {.total = 3, .sample = {1}});
  CHECK(y == std::vector<double>{-7, 256, -7});
}

}  // namespace assay
