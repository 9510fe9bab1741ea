// SPDX-License-Identifier: Apache-2.0
// Judge hooks of layernorm_residual: exact probes, fills.
#include "ops/layernorm_residual.hpp"

#include "validate/ops/norm_fills.hpp"

namespace assay {

namespace {}  // namespace

static Hooks hooks() {
  using namespace norm_fills;
  return {.overflows = {{"extremes", {bf16, f32}}},
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
          .repeated_roundings = true,
          .summed = {{Axis::cols}}};
}

static const LinkedHooks<layernorm_residual> linked(hooks);

}  // namespace assay
