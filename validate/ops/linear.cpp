// SPDX-License-Identifier: Apache-2.0
// Judge hooks of linear: exact probes.
#include "ops/linear.hpp"

#include "validate/ops/freivalds.hpp"
#include "validate/ops/gemm_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

double sweep(const void* args, const Numerics& numerics, Errors errors, const Tensor& got, std::uint64_t seed) {
  const auto& a = *static_cast<const linear::Args*>(args);
  return freivalds::linear_margin(a.x, a.weight, a.bias, got, numerics, errors, seed);
}

}  // namespace

static Hooks hooks() {
  using namespace gemm_fills;
  return {.fills = {kIntegers, kOneHot, kCancelling, kUnit, kSpecialWeights, kInfiniteTails}, .sweep = sweep};
}

static const LinkedHooks<linear> linked(hooks);

}  // namespace assay
