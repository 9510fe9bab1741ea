// SPDX-License-Identifier: Apache-2.0
// Tests the golden against values computed by hand; goldens_test.cpp tests it against the oracle.
#include "ops/gemm_swiglu.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"

namespace assay::reference {
void golden(const gemm_swiglu::Args&, gemm_swiglu::Golden&, const Rows&);
}

namespace assay {
namespace {

struct Solved {
  std::vector<double> y, gate, up, gate_abs, gate_sq, up_abs, up_sq;
};

Solved solve(std::vector<double> x, std::vector<double> w_gate, std::vector<double> w_up, std::int64_t tokens, std::int64_t ffn,
             Rows rows) {
  const auto n = static_cast<std::size_t>(tokens * ffn);
  const std::int64_t hidden = static_cast<std::int64_t>(x.size()) / tokens;
  std::vector<double> y(n);
  const std::vector<double> untouched(n, -7);
  Solved s{untouched, untouched, untouched, untouched, untouched, untouched, untouched};
  const gemm_swiglu::Args a{.x = test::matrix(x, tokens, hidden),
                            .w_gate = test::matrix(w_gate, ffn, hidden),
                            .w_up = test::matrix(w_up, ffn, hidden),
                            .y = test::matrix(y, tokens, ffn)};
  gemm_swiglu::Golden g{s.y, s.gate, s.up, s.gate_abs, s.gate_sq, s.up_abs, s.up_sq};
  reference::golden(a, g, rows);
  return s;
}

}  // namespace

TEST_CASE("gemm_swiglu: matches values computed by hand", "[golden]") {
  // x = [1 2; 3 -1], w_gate = [32 4; 1 -0.5], w_up = [1 1; -2 0]: gate = [40 0; 92 3.5], up = [3 -2; 2 -6].
  // silu(40) = 40 and silu(92) = 92 to the last bit of f64; silu(0) = 0; silu(3.5) = 3.5 / (1 + e^-3.5).
  const Solved s = solve({1, 2, 3, -1}, {32, 4, 1, -0.5}, {1, 1, -2, 0}, 2, 2, {.total = 2});
  CHECK(s.gate == std::vector<double>{40, 0, 92, 3.5});
  CHECK(s.up == std::vector<double>{3, -2, 2, -6});
  CHECK((s.y[0] == 120 && s.y[1] == 0 && s.y[2] == 184));
  CHECK(std::fabs(s.y[3] + 21 / (1 + std::exp(-3.5))) < 1e-14);
  CHECK(s.gate_abs == std::vector<double>{40, 2, 100, 3.5});
  CHECK(s.gate_sq == std::vector<double>{1088, 2, 9232, 9.25});
  CHECK(s.up_abs == std::vector<double>{3, 2, 4, 6});
  CHECK(s.up_sq == std::vector<double>{5, 4, 10, 36});
}

TEST_CASE("gemm_swiglu: NaN and inf reach only what depends on them", "[golden]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Solved s = solve({nan, inf, 1}, {1, -1}, {2, 2}, 3, 2, {.total = 3});
  CHECK((std::isnan(s.y[0]) && std::isnan(s.y[1])));
  CHECK((s.y[2] == inf && std::isnan(s.y[3])));  // silu(-inf) is NaN
  CHECK((std::isfinite(s.y[4]) && std::isfinite(s.y[5])));
}

TEST_CASE("gemm_swiglu: only the sampled rows are computed", "[golden]") {
  const Solved s = solve({1, 2, 3}, {64}, {1}, 3, 1, {.total = 3, .sample = {1}});
  CHECK(s.y == std::vector<double>{-7, 256, -7});
}

}  // namespace assay
