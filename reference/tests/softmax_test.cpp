// SPDX-License-Identifier: Apache-2.0
// Tests the golden against values computed by hand; goldens_test.cpp tests it against the oracle.
#include "ops/softmax.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"

namespace assay::reference {
void golden(const softmax::Args&, softmax::Golden&, const Rows&);
}

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Solved {
  std::vector<double> y, max, spread;
};

Solved solve(std::vector<double> x, std::int64_t rows, std::vector<std::int64_t> sample = {}) {
  const auto cols = static_cast<std::int64_t>(x.size()) / rows;
  const auto n = static_cast<std::size_t>(rows);
  Solved s{std::vector<double>(x.size(), -7), std::vector<double>(n), std::vector<double>(n)};
  std::vector<double> y(x.size());
  const auto matrix = [&](std::vector<double>& v) {
    return Tensor{.data = v.data(), .dtype = f64, .rank = 2, .shape = {rows, cols}, .stride = {cols, 1}};
  };
  softmax::Golden g{s.y, s.max, s.spread};
  reference::golden({.x = matrix(x), .y = matrix(y)}, g, {.total = rows, .sample = std::move(sample)});
  return s;
}

}  // namespace

TEST_CASE("softmax: matches values computed by hand", "[golden]") {
  // exp(0), exp(ln 2), exp(ln 5) are 1, 2, 5 of 8, whatever is added to all three.
  const double ln2 = std::log(2.0), ln5 = std::log(5.0);
  const Solved s = solve({0, ln2, ln5, 1000 + ln5, 1000 + ln2, 1000}, 2);
  const double expected[] = {1.0 / 8, 2.0 / 8, 5.0 / 8, 5.0 / 8, 2.0 / 8, 1.0 / 8};
  for (int i = 0; i < 6; ++i) CHECK(std::fabs(s.y[i] - expected[i]) < 1e-13);
  CHECK(s.max[0] == ln5);
  CHECK(std::fabs(s.spread[0] - (ln5 / 8 + 2 * (ln5 - ln2) / 8)) < 1e-15);
}

TEST_CASE("softmax: ties are equal, one column is 1, far below the maximum is 0", "[golden]") {
  CHECK(solve({7, 7, 7, 7}, 1).y == std::vector<double>{0.25, 0.25, 0.25, 0.25});
  CHECK(solve({-1e6, 3}, 2).y == std::vector<double>{1, 1});
  CHECK(solve({0, -1000, 0}, 1).y == std::vector<double>{0.5, 0, 0.5});
  CHECK(solve({0, -1000, 0}, 1).spread[0] == 0);
}

TEST_CASE("softmax: infinities and NaN follow the formula and stay in their row", "[golden]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Solved s =
      solve({1, -kInfinity, 1, -kInfinity, -kInfinity, -kInfinity, 1, kInfinity, 2, nan, 1, 2, -kInfinity, 1, nan}, 5);
  CHECK(s.y[0] == 0.5);
  CHECK(s.y[1] == 0);
  CHECK(s.spread[0] == 0);
  for (int i = 3; i < 15; ++i) CHECK(std::isnan(s.y[i]));
}

TEST_CASE("softmax: only the sampled rows are written", "[golden]") {
  const Solved s = solve({0, 0, 1, 1, 2, 2}, 3, {0, 2});
  CHECK(s.y == std::vector<double>{0.5, 0.5, -7, -7, 0.5, 0.5});
}

}  // namespace assay
