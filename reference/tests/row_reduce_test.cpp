// SPDX-License-Identifier: Apache-2.0
// Tests the golden against values computed by hand; goldens_test.cpp tests it against the oracle.
#include "ops/row_reduce.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"

namespace assay::reference {
void golden(const row_reduce::Args&, row_reduce::Golden&, const Rows&);
}

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Reduction kAll[] = {Reduction::sum, Reduction::max, Reduction::logsumexp, Reduction::sum_of_squares};

struct Solved {
  std::vector<double> y, magnitude, second;
};
Solved solve(std::vector<double> x, std::int64_t rows, Reduction what) {
  const auto n = static_cast<std::size_t>(rows);
  Solved s{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  std::vector<double> y(n);
  row_reduce::Golden g{s.y, s.magnitude, s.second};
  const std::int64_t cols = static_cast<std::int64_t>(x.size()) / rows;
  reference::golden({.x = test::matrix(x, rows, cols), .y = test::vector_of(y), .what = what}, g, {.total = 1, .sample = {}});
  return s;
}

}  // namespace

TEST_CASE("row_reduce: matches values computed by hand", "[golden]") {
  const std::vector<double> x{1, -2, 4, -8, -16, -32};
  const Solved sum = solve(x, 2, Reduction::sum), squares = solve(x, 2, Reduction::sum_of_squares);
  CHECK(sum.y == std::vector<double>{3, -56});
  CHECK(sum.magnitude == std::vector<double>{7, 56});
  CHECK(sum.second == std::vector<double>{21, 64 + 256 + 1024});
  CHECK(squares.y == std::vector<double>{21, 64 + 256 + 1024});
  CHECK(solve(x, 2, Reduction::max).y == std::vector<double>{4, -8});
  // exp of 0, ln 2 and ln 5 are 1, 2 and 5, their sum 8, whatever is added to all three.
  const double ln2 = std::log(2.0), ln5 = std::log(5.0), ln8 = std::log(8.0);
  const Solved logs = solve({0, ln2, ln5, 1000 + ln5, 1000 + ln2, 1000}, 2, Reduction::logsumexp);
  CHECK(std::fabs(logs.y[0] - ln8) < 1e-15);
  CHECK(std::fabs(logs.y[1] - (1000 + ln8)) < 1e-12);
  CHECK(logs.magnitude[0] == ln5);
  CHECK(std::fabs(logs.second[0] - (ln5 / 8 + 2 * (ln5 - ln2) / 8)) < 1e-15);
}

TEST_CASE("row_reduce: a row of several pieces and an empty row", "[golden]") {
  std::vector<double> x(200'003, 0.5);
  x[199'999] = 3;
  CHECK(solve(x, 1, Reduction::sum).y[0] == 100'001 + 3);
  CHECK(solve(x, 1, Reduction::max).y[0] == 3);
  x[70'000] = kNaN;
  CHECK(std::isnan(solve(x, 1, Reduction::max).y[0]));
  const double nothing[] = {0, -kInfinity, -kInfinity, 0};
  for (int k = 0; k < 4; ++k) CHECK(solve({}, 1, kAll[k]).y[0] == nothing[k]);
}

TEST_CASE("row_reduce: infinities and NaN stay in their row", "[golden]") {
  const std::vector<double> x{1, kInfinity, -kInfinity, -kInfinity, kNaN, -kInfinity, kInfinity, -kInfinity, 1, -kInfinity};
  const auto is = [&](Reduction what, std::vector<double> expected) {
    const std::vector<double> y = solve(x, 5, what).y;
    for (std::size_t r = 0; r < 5; ++r) CHECK((y[r] == expected[r] || (std::isnan(y[r]) && std::isnan(expected[r]))));
  };
  is(Reduction::sum, {kInfinity, -kInfinity, kNaN, kNaN, -kInfinity});
  is(Reduction::max, {kInfinity, -kInfinity, kNaN, kInfinity, 1});
  is(Reduction::logsumexp, {kInfinity, -kInfinity, kNaN, kInfinity, 1});
  is(Reduction::sum_of_squares, {kInfinity, kInfinity, kNaN, kInfinity, kInfinity});
}

}  // namespace assay
