// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/softmax.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "ops/core/dense.hpp"
#include "reference/tests/solving.hpp"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;

Values solve(Values x, std::int64_t rows, std::vector<std::int64_t> sample = {}) {
  const auto cols = static_cast<std::int64_t>(x.size()) / rows;
  Values y(x.size(), -7);
  test::solve<softmax>({.x = dense(x.data(), f64, {rows, cols}), .y = dense(nullptr, f64, {rows, cols})}, {y},
                       {.total = rows, .sample = std::move(sample)});
  return y;
}

}  // namespace

TEST_CASE("softmax: matches values computed by hand", "[golden]") {
  // exp(0), exp(ln 2), exp(ln 5) are 1, 2, 5 of 8, whatever is added to all three.
  const double ln2 = std::log(2.0), ln5 = std::log(5.0);
  const Values y = solve({0, ln2, ln5, 1000 + ln5, 1000 + ln2, 1000}, 2);
  const double expected[] = {1.0 / 8, 2.0 / 8, 5.0 / 8, 5.0 / 8, 2.0 / 8, 1.0 / 8};
  for (int i = 0; i < 6; ++i) CHECK(std::fabs(y[i] - expected[i]) < 1e-13);
}

TEST_CASE("softmax: ties are equal, one column is 1, far below the maximum is 0", "[golden]") {
  CHECK(solve({7, 7, 7, 7}, 1) == Values{0.25, 0.25, 0.25, 0.25});
  CHECK(solve({-1e6, 3}, 2) == Values{1, 1});
  CHECK(solve({0, -1000, 0}, 1) == Values{0.5, 0, 0.5});
}

TEST_CASE("softmax: infinities and NaN follow the formula and stay in their row", "[golden]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Values y =
      solve({1, -kInfinity, 1, -kInfinity, -kInfinity, -kInfinity, 1, kInfinity, 2, nan, 1, 2, -kInfinity, 1, nan}, 5);
  CHECK(y[0] == 0.5);
  CHECK(y[1] == 0);
  for (int i = 3; i < 15; ++i) CHECK(std::isnan(y[i]));
}

TEST_CASE("softmax: only the sampled rows are written", "[golden]") {
  CHECK(solve({0, 0, 1, 1, 2, 2}, 3, {0, 2}) == Values{0.5, 0.5, -7, -7, 0.5, 0.5});
}

}  // namespace assay
