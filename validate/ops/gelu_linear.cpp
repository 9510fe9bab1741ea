// SPDX-License-Identifier: Apache-2.0
// Judge hooks of gelu_linear: exact probes, fills.
#include "ops/gelu_linear.hpp"

#include "validate/ops/gemm_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

static Hooks hooks() {
  using namespace gemm_fills;
  return {.fills = {kSaturated, kChosen, kUnit, kUnitOutlier, kCancelling, kSubnormal, kLarge, kSpecialWeights, kInfiniteTails}};
}

static const LinkedHooks<gelu_linear> linked(hooks);

}  // namespace assay
