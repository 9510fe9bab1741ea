// SPDX-License-Identifier: Apache-2.0
// Policies do what the tests of other projects do, their weaknesses included.
#include "validate/records/policy.hpp"

#include <limits>

#include "catch_shim.hpp"
#include "fixed_problem.hpp"
#include "validate/records/policy_figures.hpp"

namespace assay {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

PolicyFigures figures(const std::vector<double>& got, const std::vector<double>& golden, DType t = f32) {
  const test::FixedProblem problem(golden, 1.0);
  test::OwnedTensor y(t, {static_cast<std::int64_t>(got.size())});
  y.set(got);
  return policy_figures(problem, 0, y.get());
}

bool ok(Policy p, const std::vector<double>& got, const std::vector<double>& golden, DType t = f32, double baseline = 0) {
  const PolicyFigures f[] = {figures(got, golden, t)};
  PolicyFigures plain[1];
  plain[0].max_error = baseline;
  return passes(p, f, plain);
}

// Judges 101 ones, of which the last is `odd`.
bool one_of_many(Policy p, double odd) {
  std::vector<double> golden(101, 1.0), got = golden;
  got.back() = odd;
  return ok(p, got, golden);
}

}  // namespace

TEST_CASE("policy: equal numbers pass every policy") {
  for (std::size_t p = 0; p < kPolicies.size(); ++p)
    for (const DType t : kActivationDTypes) CHECK(ok(static_cast<Policy>(p), {1, -2, 0.5}, {1, -2, 0.5}, t));
}

TEST_CASE("policy: allclose adds its tolerances") {
  CHECK(ok(Policy::allclose, {1.0199}, {1}));
  CHECK_FALSE(ok(Policy::allclose, {1.0201}, {1}));
  CHECK(ok(Policy::allclose, {0.0099}, {0}));
  CHECK(ok(Policy::allclose, {-kInf}, {-kInf}));
  CHECK_FALSE(ok(Policy::allclose, {kInf}, {-kInf}));
  CHECK_FALSE(ok(Policy::allclose, {1}, {kInf}));
  CHECK_FALSE(ok(Policy::allclose, {kNan}, {kNan}));
}

TEST_CASE("policy: the tolerances of assert_close depend on the dtype") {
  CHECK(ok(Policy::assert_close, {1 + 0x1p-10}, {1}, f16));
  CHECK_FALSE(ok(Policy::assert_close, {1 + 0x1p-9}, {1}, f16));
  CHECK(ok(Policy::assert_close, {1 + 0x1p-6}, {1}, bf16));
  CHECK_FALSE(ok(Policy::assert_close, {1 + 0x1p-5}, {1}, bf16));
  CHECK(ok(Policy::assert_close, {1 + 1e-5}, {1}, f32));
  CHECK_FALSE(ok(Policy::assert_close, {1 + 2e-5}, {1}, f32));
}

TEST_CASE("policy: the golden is rounded to the dtype first") {
  CHECK(ok(Policy::twice_baseline, {1}, {1 + 0x1p-13}, f16));
  CHECK_FALSE(ok(Policy::twice_baseline, {1}, {1 + 0x1p-13}, f32));
}

TEST_CASE("policy: policies over all elements hide one wrong element") {
  for (const Policy p : {Policy::nmse, Policy::matched_99, Policy::cosine}) CHECK(one_of_many(p, 1.2));
  CHECK(one_of_many(Policy::matched_99, 1e30));
  CHECK(one_of_many(Policy::matched_99, kNan));
  CHECK_FALSE(one_of_many(Policy::nmse, kNan));
  CHECK_FALSE(one_of_many(Policy::cosine, kNan));
  CHECK_FALSE(one_of_many(Policy::nmse, 2));
  CHECK_FALSE(one_of_many(Policy::cosine, 5));
  CHECK_FALSE(one_of_many(Policy::allclose, 1.2));
}

TEST_CASE("policy: equal infinities make the squared error NaN, which is not above its limit") {
  CHECK(ok(Policy::nmse, {kInf, 7}, {kInf, 1}));
  CHECK_FALSE(ok(Policy::nmse, {kInf, 7}, {-kInf, 1}));
  CHECK_FALSE(ok(Policy::nmse, {kInf, 1}, {3, 1}));
}

TEST_CASE("policy: cosine ignores a common factor") {
  CHECK(ok(Policy::cosine, {2, 4, 6}, {1, 2, 3}));
  CHECK_FALSE(ok(Policy::cosine, {-1, -2, -3}, {1, 2, 3}));
}

TEST_CASE("policy: two-times-baseline allows twice the baseline's error and no NaN") {
  CHECK(ok(Policy::twice_baseline, {1.5}, {1}, f32, 0.25));
  CHECK_FALSE(ok(Policy::twice_baseline, {1.75}, {1}, f32, 0.25));
  CHECK_FALSE(ok(Policy::twice_baseline, {kNan, 1}, {1, 1}, f32, 0.25));
  CHECK_FALSE(ok(Policy::twice_baseline, {1, kNan}, {1, 1}, f32, 0.25));
}

TEST_CASE("policy: a case fails if one of its outputs fails") {
  const PolicyFigures both[] = {figures({1}, {1}), figures({2}, {1})};
  for (const Policy p : {Policy::allclose, Policy::assert_close, Policy::nmse, Policy::matched_99})
    CHECK_FALSE(passes(p, both, both));
  CHECK_FALSE(passes(Policy::twice_baseline, both, std::vector<PolicyFigures>(2)));
}

}  // namespace assay
