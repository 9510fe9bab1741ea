// SPDX-License-Identifier: Apache-2.0
// Judge hooks of layernorm_residual: exact probes, fills.
#include "ops/layernorm_residual.hpp"

#include "validate/ops/norm_fills.hpp"

namespace assay {

static Hooks hooks() {
  using namespace norm_fills;
  return {.fills = {kFresh,
                    kSpecialGamma,
                    probe_of_balanced_rows(probe<balanced, probe_gamma>),
                    probe_of_constant_rows(probe<constant, probe_gamma>),
                    {.name = "opposite_residual", .shows = "the residual added before the norm", .value = opposite<0>}}};
}

static const LinkedHooks<layernorm_residual> linked(hooks);

}  // namespace assay
