// SPDX-License-Identifier: Apache-2.0
// Judge hooks of residual_rmsnorm: exact probes, fills.
#include "ops/residual_rmsnorm.hpp"

#include "validate/ops/norm_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

static Hooks hooks() {
  using namespace norm_fills;
  return {.fills = {probe_of_signs(probe_sum<signs, probe_any_gamma>),
                    probe_of_one_hot_rows(probe_sum<one_hot, probe_any_gamma>),
                    {.name = "opposite_residual",
                     .shows = "the norm before the addition, the root of x; only one column in eight has a nonzero sum",
                     .value = opposite<8>},
                    kLarge,
                    kSpecialGamma}};
}

static const LinkedHooks<residual_rmsnorm> linked(hooks);

}  // namespace assay
