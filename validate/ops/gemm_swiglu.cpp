// SPDX-License-Identifier: Apache-2.0
// Judge hooks of gemm_swiglu: exact probes, fills.
#include "ops/gemm_swiglu.hpp"

#include "validate/ops/gemm_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

// One or two ones per token.  gate is 1024 n, where silu is the identity or 0, and up is m / 64, with integers |n|, |m| <= 14
// that differ from each other and from feature to feature: y = 16 n m or 0.
double probe_gates(const FillSite& s, std::int64_t i) {
  const std::int64_t hidden = gemm_fills::hidden_of(s), row = i / hidden, h = i % hidden;
  if (s.tensor == "w_gate") return static_cast<double>((row * 3 + h * 5) % 15 - 7) * 1024;
  if (s.tensor == "w_up") return static_cast<double>((row * 7 + h * 4 + 2) % 15 - 7) / 64;
  const std::int64_t first = row * 37 % hidden, second = (row * 37 + hidden / 2) % hidden;
  return h == first ? 1 : h == second ? (row % 2 ? -1 : 1) : 0;
}

}  // namespace

static Hooks hooks() {
  using namespace gemm_fills;
  return {.fills = {{.name = "probe_gates",
                     .shows = "gate and up swapped, a wrong feature or channel; exact",
                     .value = probe_gates,
                     .exact = always},
                    kChosen,
                    kUnit,
                    kUnitOutlier,
                    kCancelling,
                    kSubnormal,
                    kLarge,
                    kSpecialWeights,
                    kInfiniteTails,
                    kSilentUnits}};
}

static const LinkedHooks<gemm_swiglu> linked(hooks);

}  // namespace assay
