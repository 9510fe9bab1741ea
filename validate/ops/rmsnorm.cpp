// SPDX-License-Identifier: Apache-2.0
// Judge hooks of rmsnorm: exact probes, fills, the second oracle, relations.
#include "ops/rmsnorm.hpp"

#include "validate/ops/norm_fills.hpp"
#include "validate/ops/norm_oracle.hpp"
#include "validate/ops/row_relations.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

void oracle(const void* args, const Numerics& numerics, Roundings roundings, std::span<double> y) {
  const auto& a = *static_cast<const rmsnorm::Args*>(args);
  const Rounding round(numerics, roundings, a.x.dtype);
  const std::int64_t cols = a.x.shape[1];
  for (std::int64_t row = 0; row < a.x.shape[0]; ++row) {
    const auto x = [&](std::int64_t c) { return a.x.at(row * cols + c); };
    const auto store = [&](std::int64_t c, double v) { y[static_cast<std::size_t>(row * cols + c)] = v; };
    norm_oracle::rmsnorm(round, cols, a.epsilon, a.gamma, x, store);
  }
}

}  // namespace

Hooks hooks_of_rmsnorm() {
  using namespace norm_fills;
  using namespace row_relations;
  return {.fills = {{.name = "probe_signs",
                     .shows = "a wrong index or gamma; exact with epsilon = 0",
                     .value = probe<signs, probe_any_gamma>,
                     .exact = always},
                    {.name = "probe_one_hot",
                     .shows = "the root or gamma of another row or column; exact with epsilon = 0",
                     .value = probe<one_hot, probe_any_gamma>,
                     .exact = power_of_four,
                     .applies = power_of_four},
                    kLarge,
                    kTiny},
          .oracle = oracle,
          .relations = {
              kRowsPermuted,
              kFirstRows,
              summands_permuted("a skipped column, or one with another's gamma"),
              x_doubled({{"x", 2}}),
              {.name = "gamma_doubled", .shows = "clamping", .scaled = {{"gamma", 2}, {"y", 2}}, .applies = normal_values}}};
}

}  // namespace assay
