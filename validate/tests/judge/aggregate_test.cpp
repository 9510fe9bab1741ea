// SPDX-License-Identifier: Apache-2.0
// Aggregates of a whole problem: what a sound kernel's errors have in common where it stores on the way.
#include "validate/judge/aggregate.hpp"

#include "catch_shim.hpp"
#include "played.hpp"

namespace assay {

namespace {

const Hooks kSums{.only_sums = true};

}  // namespace

// The only input channel is large, so that the bias is below half the spacing of most products: stored first, they swallow it,
// and each row errs by the same bias.
TEST_CASE("aggregate: a bias that is lost in what was stored is no fault of who declares to store", "[tiers]") {
  const Op& op = *find_op("linear");
  Case c;
  c.op = "linear", c.dtype = bf16, c.fill = "one_outlier", c.seed = 2220605889, c.attributes["bias"] = 1;
  c.dims[Axis::tokens] = 222, c.dims[Axis::hidden] = 1, c.dims[Axis::out] = 11;
  const Numerics stores{.stores_intermediate = true};
  const test::Played p(op, c, stores);
  CHECK(aggregate(*p.problem, op.hooks, stores, p.first).within());
  CHECK_FALSE(aggregate(*p.problem, kSums, stores, p.first).within());
}

// A product of one channel is a multiple of its spacing, and what the sum with a bias is rounded by follows from the bias alone:
// it is the same in every row.
TEST_CASE("aggregate: a bias is rounded alike in every row where the sum is as precise as the output", "[tiers]") {
  const Op& op = *find_op("linear");
  Case c;
  c.op = "linear", c.dtype = f32, c.fill = "one_outlier", c.seed = 2601400692, c.attributes["bias"] = 1;
  c.dims[Axis::tokens] = 193, c.dims[Axis::hidden] = 1, c.dims[Axis::out] = 119;
  const test::Played p(op, c);
  CHECK(aggregate(*p.problem, op.hooks, {}, p.first).within());
  CHECK_FALSE(aggregate(*p.problem, kSums, {}, p.first).within());
}

// Of 150 tokens of five channels, the one that outweighs the others is +-sqrt(5) gamma after the norm: five values, and what each
// is rounded by is the error of some thirty tokens.
TEST_CASE("aggregate: a norm's outliers are few values, whose roundings repeat where they are stored", "[tiers]") {
  const Op& op = *find_op("rmsnorm_gemm");
  Case c;
  c.op = "rmsnorm_gemm", c.dtype = f16, c.fill = "one_outlier", c.seed = 5844120;
  c.dims[Axis::tokens] = 150, c.dims[Axis::hidden] = 5, c.dims[Axis::out] = 1;
  const Numerics stores{.stores_intermediate = true};
  const test::Played p(op, c, stores);
  CHECK(aggregate(*p.problem, op.hooks, stores, p.first).within());
  CHECK_FALSE(aggregate(*p.problem, {}, stores, p.first).within());
}

}  // namespace assay
