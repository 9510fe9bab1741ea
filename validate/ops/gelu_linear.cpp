// SPDX-License-Identifier: Apache-2.0
// Judge hooks of gelu_linear: exact probes, fills, the second oracle, relations.
#include "ops/gelu_linear.hpp"

#include "validate/ops/activation_oracle.hpp"
#include "validate/ops/gemm_fills.hpp"
#include "validate/ops/gemm_oracle.hpp"
#include "validate/ops/gemm_relations.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

void oracle(const void* args, const Numerics& numerics, Roundings roundings, std::span<double> y) {
  const auto& a = *static_cast<const gelu_linear::Args*>(args);
  const gemm_oracle::Rounding r(numerics, roundings, a.x.dtype);
  const std::int64_t tokens = a.x.shape[0], out = a.y.shape[1];
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t o = 0; o < out; ++o) {
      double z = gemm_oracle::dot(r, a.x, t, a.weight, o);
      if (a.bias.data) z = r.add(r.step(z), a.bias.at(o));
      y[static_cast<std::size_t>(t * out + o)] = gemm_oracle::activate(r, numerics.cancelling_gelu, a.form, r.stored(z));
    }
}

}  // namespace

static Hooks hooks() {
  using namespace gemm_fills;
  using namespace gemm_relations;
  return {.overflows = {{"extremes"}, {"near_max", {f16}}, {"wide_range", {f16}}},
          .fills = {kSaturated, kChosen, kUnit, kUnitOutlier, kCancelling, kSubnormal, kLarge, kSpecialWeights, kInfiniteTails},
          .oracle = oracle,
          .relations = {kTokensPermuted, kFirstTokens, features_permuted(Axis::out), kChannelsPermuted},
          .repeated_roundings = true,
          .summed = {{Axis::hidden}}};
}

static const LinkedHooks<gelu_linear> linked(hooks);

}  // namespace assay
