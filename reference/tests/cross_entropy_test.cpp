// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/cross_entropy.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"
#include "reference/tests/solving.hpp"
#include "validate/problem/typed/op_adapter.hpp"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Solved {
  std::vector<double> loss, mean;
  Legality legal;
};
Solved solve(std::vector<double> x, std::vector<std::int32_t> target) {
  const std::size_t n = target.size();
  Solved s{.loss = std::vector<double>(n), .mean = {0}, .legal = {}};
  const auto tokens = static_cast<std::int64_t>(n);
  const Tensor targets{.data = target.data(), .dtype = i32, .rank = 1, .shape = {tokens}, .stride = {1}};
  const cross_entropy::Args a{.x = test::matrix(x, tokens, static_cast<std::int64_t>(x.size()) / tokens),
                              .target = targets,
                              .loss = test::vector_of(s.loss),
                              .mean = test::vector_of(s.mean)};
  s.legal = legal_arguments<cross_entropy>(a);
  if (s.legal) test::solve<cross_entropy>(a, {s.loss, s.mean});
  return s;
}

}  // namespace

TEST_CASE("cross_entropy: matches values computed by hand", "[golden]") {
  // Probabilities 1/8, 2/8, 5/8, whatever is added to all three; the mean of ln 8, ln 4 and ln(8/5).
  const double ln2 = std::log(2.0), ln5 = std::log(5.0);
  const Solved s = solve({0, ln2, ln5, 500, 500 + ln2, 500 + ln5, ln5, 0, ln2}, {0, 1, 0});
  CHECK(std::fabs(s.loss[0] - 3 * ln2) < 1e-14);
  CHECK(std::fabs(s.loss[1] - 2 * ln2) < 1e-12);
  CHECK(std::fabs(s.loss[2] - (3 * ln2 - ln5)) < 1e-14);
  CHECK(std::fabs(s.mean[0] - (8 * ln2 - ln5) / 3) < 1e-12);
}

TEST_CASE("cross_entropy: probability 1, probability 0, one class", "[golden]") {
  CHECK(solve({0, -4096, 0, -4096}, {0, 1}).loss == std::vector<double>{0, 4096});
  CHECK(solve({3}, {0}).loss[0] == 0);
  CHECK(solve({0, -4096, 0, -4096}, {0, 1}).mean[0] == 2048);
}

TEST_CASE("cross_entropy: infinities and NaN follow the formula and stay in their token", "[golden]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Solved s = solve({1, -kInfinity, 1, -kInfinity, 1, kInfinity, -kInfinity, -kInfinity, nan, 1}, {0, 1, 0, 0, 1});
  CHECK(s.loss[0] == 0);
  CHECK(s.loss[1] == kInfinity);
  for (std::size_t t : {2, 3, 4}) CHECK(std::isnan(s.loss[t]));
  CHECK(std::isnan(s.mean[0]));
  CHECK(solve({1, -kInfinity, 0, 0}, {1, 0}).mean[0] == kInfinity);
}

TEST_CASE("cross_entropy: a target out of range is illegal", "[golden]") {
  CHECK(solve({1, 2, 3, 4}, {1, 2}).legal.why == "target[1] is 2, not one of 0 ... 1");
  CHECK(solve({1, 2, 3, 4}, {-1, 0}).legal.why == "target[0] is -1, not one of 0 ... 1");
}

}  // namespace assay
