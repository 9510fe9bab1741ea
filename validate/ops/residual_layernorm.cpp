// SPDX-License-Identifier: Apache-2.0
// Judge hooks of residual_layernorm: exact probes, fills.
#include "ops/residual_layernorm.hpp"

#include "validate/ops/norm_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

static Hooks hooks() {
  using namespace norm_fills;
  return {.overflows = {{"extremes", {bf16, f32}}},
          .fills = {{.name = "probe_signs",
                     .shows = "a wrong index, weight or term; exact with epsilon = 0",
                     .value = probe_sum<balanced, probe_gamma>,
                     .exact = even_cols,
                     .exact_with = no_epsilon,
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
                    kTiny,
                    kSpecialGamma}};
}

static const LinkedHooks<residual_layernorm> linked(hooks);

}  // namespace assay
