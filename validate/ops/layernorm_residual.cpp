// SPDX-License-Identifier: Apache-2.0
// Judge hooks of layernorm_residual: exact probes, fills, the second oracle, relations.
#include "ops/layernorm_residual.hpp"

#include "validate/ops/norm_fills.hpp"
#include "validate/ops/rounding.hpp"
#include "validate/ops/row_relations.hpp"

namespace assay {

namespace {

// The second oracle: element by element, sharing no code with the golden.  `round` is applied to every result on chip.
void oracle_with(const layernorm_residual::Args& a, const Rounding& round, std::span<double> y) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0, squares = 0;
    for (std::int64_t c = 0; c < cols; ++c) sum = round(sum + a.x.at(r * cols + c));
    const double mean = round(sum / static_cast<double>(cols));
    for (std::int64_t c = 0; c < cols; ++c) {
      const double d = round(a.x.at(r * cols + c) - mean);
      squares = round(squares + round(d * d));
    }
    const double variance = round(squares / static_cast<double>(cols));
    const double deviation = round(std::sqrt(round(variance + round(a.epsilon))));
    for (std::int64_t c = 0; c < cols; ++c) {
      const double normalised = round(round(a.x.at(r * cols + c) - mean) / deviation);
      const double value = round.stored(round(round(normalised * a.gamma.at(c)) + a.beta.at(c)));
      y[static_cast<std::size_t>(r * cols + c)] = round(value + a.residual.at(r * cols + c));
    }
  }
}

void oracle(const void* args, const Numerics& numerics, Roundings roundings, std::span<double> y) {
  const auto& a = *static_cast<const layernorm_residual::Args*>(args);
  oracle_with(a, {numerics, roundings, a.x.dtype}, y);
}

}  // namespace

static Hooks hooks() {
  using namespace norm_fills;
  using namespace row_relations;
  return {
      .overflows = {{"extremes", {bf16, f32}}},
      .fills = {kFresh,
                kSpecialGamma,
                {.name = "probe_signs",
                 .shows = "a wrong index, weight or term; exact with epsilon = 0",
                 .value = probe<balanced, probe_gamma>,
                 .exact = even_cols,
                 .exact_with = no_epsilon,
                 .applies = even_cols},
                {.name = "probe_constant_row",
                 .shows = "a mean not subtracted exactly, another column's beta or residual; exact",
                 .coherent = true,
                 .value = probe<constant, probe_gamma>,
                 .exact = always},
                {.name = "opposite_residual", .shows = "the residual added before the norm", .value = opposite<0>}},
      .oracle = oracle,
      .relations = {kRowsPermuted, kFirstRows,
                    summands_permuted("a skipped column, or one with another's gamma, beta or residual"), x_doubled({{"x", 2}})},
      .repeated_roundings = true,
      .summed = {{Axis::cols}}};
}

static const LinkedHooks<layernorm_residual> linked(hooks);

}  // namespace assay
