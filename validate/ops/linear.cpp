// SPDX-License-Identifier: Apache-2.0
// Judge hooks of linear: exact probes, the second oracle, relations.
#include "ops/linear.hpp"

#include "validate/ops/freivalds.hpp"
#include "validate/ops/gemm_fills.hpp"
#include "validate/ops/gemm_oracle.hpp"
#include "validate/ops/gemm_relations.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

void oracle(const void* args, const Numerics& numerics, Roundings roundings, std::span<double> y) {
  const auto& a = *static_cast<const linear::Args*>(args);
  const gemm_oracle::Rounding r(numerics, roundings, a.x.dtype);
  const std::int64_t tokens = a.x.shape[0], out = a.y.shape[1];
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t o = 0; o < out; ++o) {
      double v = gemm_oracle::dot(r, a.x, t, a.weight, o);
      if (a.bias.data) v = r.add(r.stored(v), a.bias.at(o));
      y[static_cast<std::size_t>(t * out + o)] = v;
    }
}

double sweep(const void* args, const Numerics& numerics, Errors errors, const Tensor& got, std::uint64_t seed) {
  const auto& a = *static_cast<const linear::Args*>(args);
  return freivalds::linear_margin(a.x, a.weight, a.bias, got, numerics, errors, seed);
}

}  // namespace

static Hooks hooks() {
  using namespace gemm_fills;
  using namespace gemm_relations;
  return {.overflows = {{"extremes", {bf16, f32}}},
          .fills = {kIntegers, kOneHot, kCancelling, kUnit, kSpecialWeights, kInfiniteTails},
          .oracle = oracle,
          .sweep = sweep,
          .relations = {kTokensPermuted,
                        kFirstTokens,
                        features_permuted(Axis::out),
                        kChannelsPermuted,
                        {.name = "doubled",
                         .shows = "a wrong scale, a threshold, clamping",
                         .scaled = {{"x", 2}, {"bias", 2}, {"y", 2}},
                         .applies = moderate}},
          .only_sums = true,
          .last_addend = "bias",
          .repeated_roundings = true,
          .summed = {{Axis::hidden}}};
}

static const LinkedHooks<linear> linked(hooks);

}  // namespace assay
