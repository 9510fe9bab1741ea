// SPDX-License-Identifier: Apache-2.0
// Judge hooks of rmsnorm: exact probes, fills.
#include "ops/rmsnorm.hpp"

#include "validate/ops/norm_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

static Hooks hooks() {
  using namespace norm_fills;
  return {.fills = {probe_of_signs(probe<signs, probe_any_gamma>), probe_of_one_hot_rows(probe<one_hot, probe_any_gamma>), kLarge,
                    kSpecialGamma}};
}

static const LinkedHooks<rmsnorm> linked(hooks);

}  // namespace assay
