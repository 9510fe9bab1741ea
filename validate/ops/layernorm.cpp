// SPDX-License-Identifier: Apache-2.0
// Judge hooks of layernorm: exact probes, fills, relations.
#include "ops/layernorm.hpp"

#include "validate/ops/norm_fills.hpp"
#include "validate/ops/row_relations.hpp"
#include "validate/problem/op.hpp"

namespace assay {

static Hooks hooks() {
  using namespace norm_fills;
  using namespace row_relations;
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
                    kSpecialGamma},
          .relations = {kRowsPermuted, kFirstRows, summands_permuted("a skipped column, or one with another's gamma or beta"),
                        x_doubled({{"x", 2}}), kAffineDoubled}};
}

static const LinkedHooks<layernorm> linked(hooks);

}  // namespace assay
