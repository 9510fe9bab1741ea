// SPDX-License-Identifier: Apache-2.0
// Judge hooks of gelu: exact probes, fills.
#include "ops/gelu.hpp"

#include "validate/ops/elementwise_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

static Hooks hooks() {
  using namespace elementwise_fills;
  return {
      .fills = {{.name = "probe_saturated", .shows = "a wrong index, a lost sign; exact", .value = saturated, .exact = always},
                kBends}};
}

static const LinkedHooks<gelu> linked(hooks);

}  // namespace assay
