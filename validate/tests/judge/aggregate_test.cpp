// SPDX-License-Identifier: Apache-2.0
// Aggregate checks of whole problems on which a sound kernel's rounding errors repeat.
#include "validate/judge/aggregate.hpp"

#include "catch_shim.hpp"
#include "played.hpp"

namespace assay {

// The only input channel is large, so that the bias is below half the spacing of most stored products.  The sum then loses it,
// and each row errs by the same bias.
TEST_CASE("aggregate: a bias that is lost in a stored product is no fault if the kernel declares to store", "[tiers]") {
  const Op& op = *find_op("linear");
  Case c;
  c.op = "linear";
  c.dtype = bf16;
  c.fill = "one_outlier";
  c.seed = 2220605889;
  c.attributes["bias"] = 1;
  c.dims[Axis::tokens] = 222;
  c.dims[Axis::hidden] = 1;
  c.dims[Axis::out] = 11;
  const Numerics stores{.stores = "all"};
  const test::Played p(op, c, stores);
  CHECK(aggregate(*p.problem, op.formula, stores, p.first).within());
  CHECK_FALSE(aggregate(*p.problem, op.formula, {}, p.first).within());
}

// A product of one channel is a multiple of its spacing.  So the rounding error of its sum with a bias depends on the bias alone,
// and is the same in every row.
TEST_CASE("aggregate: a bias that is rounded alike in every row is no fault if the sum is as precise as the output", "[tiers]") {
  const Op& op = *find_op("linear");
  Case c;
  c.op = "linear";
  c.dtype = f32;
  c.fill = "one_outlier";
  c.seed = 2601400692;
  c.attributes["bias"] = 1;
  c.dims[Axis::tokens] = 193;
  c.dims[Axis::hidden] = 1;
  c.dims[Axis::out] = 119;
  const test::Played p(op, c);
  CHECK(aggregate(*p.problem, op.formula, {}, p.first).within());
  CHECK_FALSE(aggregate(*p.problem, {.only_sums = true}, {}, p.first).within());
}

// In each of 150 tokens, one of five channels outweighs the others and is +-sqrt(5) gamma after the norm.  That makes few values,
// and each one's rounding error is that of some thirty tokens.
TEST_CASE("aggregate: a norm's outliers take few values, so their roundings repeat if they are stored", "[tiers]") {
  const Op& op = *find_op("rmsnorm_gemm");
  Case c;
  c.op = "rmsnorm_gemm";
  c.dtype = f16;
  c.fill = "one_outlier";
  c.seed = 5844120;
  c.dims[Axis::tokens] = 150;
  c.dims[Axis::hidden] = 5;
  c.dims[Axis::out] = 1;
  const Numerics stores{.stores = "all"};
  const test::Played p(op, c, stores);
  CHECK(aggregate(*p.problem, op.formula, stores, p.first).within());
  CHECK_FALSE(aggregate(*p.problem, op.formula, {}, p.first).within());
}

// With one channel a score is a product of a query's number, which has 1024 significands, and a key's, which all queries share.
// So 65,537 queries repeat the rounding errors of 1024, and the mean of those need not be zero.
TEST_CASE("aggregate: a stored product of one pair takes few values, so its roundings repeat", "[tiers]") {
  const Op& op = *find_op("attention_scores");
  Case c;
  c.op = "attention_scores";
  c.dtype = f16;
  c.fill = "normal";
  c.seed = 591073473;
  c.dims[Axis::batch] = c.dims[Axis::heads] = c.dims[Axis::kv_heads] = c.dims[Axis::head_dim] = 1;
  c.dims[Axis::seq_q] = 65537;
  c.dims[Axis::seq_k] = 2;
  const Numerics stores{.stores = "all"};
  const test::Played p(op, c, stores);
  CHECK(aggregate(*p.problem, op.formula, stores, p.first).within());
}

}  // namespace assay
