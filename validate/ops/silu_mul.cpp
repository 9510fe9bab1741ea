// SPDX-License-Identifier: Apache-2.0
// Judge hooks of silu_mul: exact probes, fills.
#include "ops/silu_mul.hpp"

#include "validate/ops/elementwise_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

// The gate saturates: y is 16 n m or 0, with |n| <= 30 and |m| <= 3, which 8 bits hold.
double probe_gates(const FillSite& s, std::int64_t i) {
  if (s.tensor == "gate") return elementwise_fills::saturated(s, i);
  const std::int64_t cols = s.shape.back(), row = i / cols, col = i % cols;
  return static_cast<double>((row * 5 + col * 2) % 7 - 3) / 64;
}

// Gates around and below the least normal value, which silu halves; up, 4 to 8, lifts the product to a visible size.
double subnormal_gates(const FillSite& s, std::int64_t i) {
  using namespace elementwise_fills;
  if (s.tensor != "gate") return 4 + 4 * uniform(s, i);
  const double least_normal = random::power_of_two(info(s.dtype).format.min_exponent);
  return sign(s, i) * (draw(s, Purpose::kind, i, 2) ? 1 : 16) * least_normal * uniform(s, i);
}

}  // namespace

static Hooks hooks() {
  using namespace elementwise_fills;
  return {
      .fills = {
          {.name = "probe_gates", .shows = "gate and up swapped, a wrong index; exact", .value = probe_gates, .exact = always},
          {.name = "subnormal_gates", .shows = "subnormals flushed to zero", .value = subnormal_gates},
          kBends,
          kSpecialPairs}};
}

static const LinkedHooks<silu_mul> linked(hooks);

}  // namespace assay
