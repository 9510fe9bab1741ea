// SPDX-License-Identifier: Apache-2.0
// Aggregates of a whole problem: what a sound kernel's errors have in common where it stores on the way.
#include "validate/aggregate.hpp"

#include "catch_shim.hpp"
#include "validate/image.hpp"
#include "validate/op.hpp"

namespace assay {

// The only input channel is large, so that the bias is below half the spacing of most products: stored first, they swallow it,
// and each row errs by the same bias.
TEST_CASE("aggregate: a bias that is lost in what was stored is no fault of who declares to store", "[tiers]") {
  const Op& op = *find_op("linear");
  Case c;
  c.op = "linear", c.dtype = bf16, c.fill = "one_outlier", c.seed = 2220605889, c.attributes["bias"] = 1;
  c.dims[Axis::tokens] = 222, c.dims[Axis::hidden] = 1, c.dims[Axis::out] = 11;
  const Numerics stores{.stores_intermediate = true};

  const Packing packing = pack(op, c);
  std::vector<std::byte> inputs(packing.input_bytes), outputs(packing.output_bytes);
  std::vector<std::byte*> images;
  Tensor y;
  for (std::size_t t = 0; t < op.tensors.size(); ++t) {
    const bool given = is_given(op.tensors[t]);
    images.push_back((given ? inputs.data() + packing.given[t] : outputs.data() + packing.at[t]));
    if (given) fill_image(op, c, static_cast<int>(t), packing.placements[t], images[t], {});
    else y = packing.placements[t].tensor, y.data = images[t];
  }
  const std::unique_ptr<Problem> problem = op.make();
  attach(*problem, c, packing.placements, images);
  problem->solve();
  std::vector<double> answers(problem->golden(0).size());
  op.hooks.oracle(problem->args(), stores, Roundings::declared, answers);
  for (std::size_t i = 0; i < answers.size(); ++i) y.set(static_cast<std::int64_t>(i), answers[i]);

  CHECK(aggregate(*problem, op.hooks, stores, y).within());
  CHECK_FALSE(aggregate(*problem, {.only_sums = true}, stores, y).within());
}

}  // namespace assay
