// SPDX-License-Identifier: Apache-2.0
// Judge hooks of residual_layernorm: exact probes, fills.
#include "ops/residual_layernorm.hpp"

#include "validate/ops/norm_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

static Hooks hooks() {
  using namespace norm_fills;
  return {.fills = {probe_of_balanced_rows(probe_sum<balanced, probe_gamma>),
                    probe_of_constant_rows(probe_sum<constant, probe_gamma>),
                    {.name = "opposite_residual",
                     .shows = "the norm before the addition, statistics of x; exact (y = beta)",
                     .value = opposite<0>,
                     .exact = always},
                    kLarge,
                    kSpecialGamma}};
}

static const LinkedHooks<residual_layernorm> linked(hooks);

}  // namespace assay
