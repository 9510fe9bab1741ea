// SPDX-License-Identifier: Apache-2.0
// Judge hooks of residual_layernorm: exact probes, fills, the second oracle, relations.
#include "ops/residual_layernorm.hpp"

#include "validate/ops/norm_fills.hpp"
#include "validate/ops/norm_oracle.hpp"
#include "validate/ops/row_relations.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

void oracle(const void* args, const Numerics& numerics, Roundings roundings, std::span<double> y) {
  const auto& a = *static_cast<const residual_layernorm::Args*>(args);
  const Rounding round(numerics, roundings, a.x.dtype);
  const std::int64_t cols = a.x.shape[1];
  for (std::int64_t row = 0; row < a.x.shape[0]; ++row) {
    const auto s = [&](std::int64_t c) {
      return round_to(a.s.dtype, round(a.x.at(row * cols + c) + a.residual.at(row * cols + c)));
    };
    const auto store = [&](std::int64_t c, double v) { y[static_cast<std::size_t>(row * cols + c)] = v; };
    norm_oracle::layernorm(round, cols, a.epsilon, a.gamma, a.beta, s, store);
  }
}

}  // namespace

Hooks hooks_of_residual_layernorm() {
  using namespace norm_fills;
  using namespace row_relations;
  return {.fills = {{.name = "probe_signs",
                     .shows = "a wrong index, weight or term; exact with epsilon = 0",
                     .value = probe_sum<balanced, probe_gamma>,
                     .exact = even_cols,
                     .applies = even_cols},
                    {.name = "probe_constant_row",
                     .shows = "a mean not subtracted exactly, another column's beta; exact",
                     .coherent = true,
                     .value = probe_sum<constant, probe_gamma>,
                     .exact = always},
                    {.name = "opposite_residual",
                     .shows = "the norm before the addition, statistics of x; exact (y = beta)",
                     .value = opposite<0>,
                     .exact = always},
                    kLarge,
                    kTiny},
          .oracle = oracle,
          .relations = {kRowsPermuted,
                        kFirstRows,
                        summands_permuted("a skipped column, or one with another's residual, gamma or beta"),
                        x_doubled({{"x", 2}, {"residual", 2}, {"s", 2}}),
                        {.name = "affine_doubled",
                         .shows = "clamping",
                         .scaled = {{"gamma", 2}, {"beta", 2}, {"y", 2}},
                         .applies = normal_values}}};
}

}  // namespace assay
