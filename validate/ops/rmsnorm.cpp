// SPDX-License-Identifier: Apache-2.0
// Judge hooks of rmsnorm: exact probes, fills.
#include "ops/rmsnorm.hpp"

#include "validate/ops/norm_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

static Hooks hooks() {
  using namespace norm_fills;
  return {.overflows = {{"extremes", {bf16, f32}}},
          .fills = {{.name = "probe_signs",
                     .shows = "a wrong index or gamma; exact with epsilon = 0",
                     .value = probe<signs, probe_any_gamma>,
                     .exact = always,
                     .exact_with = no_epsilon},
                    {.name = "probe_one_hot",
                     .shows = "the root or gamma of another row or column; exact with epsilon = 0",
                     .value = probe<one_hot, probe_any_gamma>,
                     .exact = power_of_four,
                     .exact_with = no_epsilon,
                     .applies = power_of_four},
                    kLarge,
                    kTiny,
                    kSpecialGamma}};
}

static const LinkedHooks<rmsnorm> linked(hooks);

}  // namespace assay
