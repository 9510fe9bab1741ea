// SPDX-License-Identifier: Apache-2.0
// Judge hooks of layernorm: exact probes, fills.
#include "ops/layernorm.hpp"

#include "validate/ops/norm_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

static Hooks hooks() {
  using namespace norm_fills;
  return {.overflows = {{"extremes", {bf16, f32}}},
          .fills = {{.name = "probe_signs",
                     .shows = "a wrong index, weight or term; exact with epsilon = 0",
                     .value = probe<balanced, probe_gamma>,
                     .exact = even_cols,
                     .exact_with = no_epsilon,
                     .applies = even_cols},
                    {.name = "probe_constant_row",
                     .shows = "a mean not subtracted exactly, another column's beta; exact",
                     .coherent = true,
                     .value = probe<constant, probe_gamma>,
                     .exact = always},
                    kLarge,
                    kTiny,
                    kSpecialGamma}};
}

static const LinkedHooks<layernorm> linked(hooks);

}  // namespace assay
