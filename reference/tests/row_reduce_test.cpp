// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/row_reduce.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "ops/core/dense.hpp"
#include "reference/tests/golden_testing.hpp"
#include "reference/tests/solving.hpp"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Reduction kAll[] = {Reduction::sum, Reduction::max, Reduction::logsumexp, Reduction::sum_of_squares};

using Values = std::vector<double>;

Values solve(Values x, std::int64_t rows, Reduction what) {
  Values y(static_cast<std::size_t>(rows));
  const std::int64_t cols = static_cast<std::int64_t>(x.size()) / rows;
  test::solve<row_reduce>({.x = test::matrix(x, rows, cols), .y = dense(nullptr, f32, {rows}), .what = what}, {y});
  return y;
}

}  // namespace

TEST_CASE("row_reduce: matches values computed by hand", "[golden]") {
  const Values x{1, -2, 4, -8, -16, -32};
  CHECK(solve(x, 2, Reduction::sum) == Values{3, -56});
  CHECK(solve(x, 2, Reduction::sum_of_squares) == Values{21, 64 + 256 + 1024});
  CHECK(solve(x, 2, Reduction::max) == Values{4, -8});
  // exp of 0, ln 2 and ln 5 are 1, 2 and 5, their sum 8, whatever is added to all three.
  const double ln2 = std::log(2.0), ln5 = std::log(5.0), ln8 = std::log(8.0);
  const Values logs = solve({0, ln2, ln5, 1000 + ln5, 1000 + ln2, 1000}, 2, Reduction::logsumexp);
  CHECK(std::fabs(logs[0] - ln8) < 1e-15);
  CHECK(std::fabs(logs[1] - (1000 + ln8)) < 1e-12);
}

TEST_CASE("row_reduce: a row of several pieces and an empty row", "[golden]") {
  Values x(200'003, 0.5);
  x[199'999] = 3;
  CHECK(solve(x, 1, Reduction::sum)[0] == 100'001 + 3);
  CHECK(solve(x, 1, Reduction::max)[0] == 3);
  x[70'000] = kNaN;
  CHECK(std::isnan(solve(x, 1, Reduction::max)[0]));
  const double nothing[] = {0, -kInfinity, -kInfinity, 0};
  for (int k = 0; k < 4; ++k) CHECK(solve({}, 1, kAll[k])[0] == nothing[k]);
}

TEST_CASE("row_reduce: infinities and NaN stay in their row", "[golden]") {
  const Values x{1, kInfinity, -kInfinity, -kInfinity, kNaN, -kInfinity, kInfinity, -kInfinity, 1, -kInfinity};
  const auto is = [&](Reduction what, Values expected) {
    const Values y = solve(x, 5, what);
    for (std::size_t r = 0; r < 5; ++r) CHECK((y[r] == expected[r] || (std::isnan(y[r]) && std::isnan(expected[r]))));
  };
  is(Reduction::sum, {kInfinity, -kInfinity, kNaN, kNaN, -kInfinity});
  is(Reduction::max, {kInfinity, -kInfinity, kNaN, kInfinity, 1});
  is(Reduction::logsumexp, {kInfinity, -kInfinity, kNaN, kInfinity, 1});
  is(Reduction::sum_of_squares, {kInfinity, kInfinity, kNaN, kInfinity, kInfinity});
}

}  // namespace assay
