// SPDX-License-Identifier: Apache-2.0
// Judge hooks of layernorm: exact probes, fills.
#include "ops/layernorm.hpp"

#include "validate/ops/norm_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

static Hooks hooks() {
  using namespace norm_fills;
  return {.fills = {probe_of_balanced_rows(probe<balanced, probe_gamma>), probe_of_constant_rows(probe<constant, probe_gamma>),
                    kLarge, kSpecialGamma}};
}

static const LinkedHooks<layernorm> linked(hooks);

}  // namespace assay
