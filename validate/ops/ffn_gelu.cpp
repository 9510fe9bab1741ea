// SPDX-License-Identifier: Apache-2.0
// Judge hooks of ffn_gelu: exact probes, fills.
#include "ops/ffn_gelu.hpp"

#include <cmath>

#include "validate/ops/gemm_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

using draws::normal;

bool is_matrix(const FillSite& s) { return s.shape.size() == 2; }
bool is_w2(const FillSite& s) { return s.tensor == "w2"; }
std::int64_t inner_of(const FillSite& s) { return s.shape.back(); }

// Both products are of order one: weights scale with 1 / sqrt of the number of terms.
double unit(const FillSite& s, std::int64_t i) {
  if (s.role != Role::weight || !is_matrix(s)) return normal(s, i);
  const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(inner_of(s)))) - 1;
  return normal(s, i) * random::power_of_two(-bits / 2);
}
// The same with 1 / sqrt itself: h has the order of its token, y that of h.
double fan_in(const FillSite& s, std::int64_t i) {
  const bool scaled = s.role == Role::weight && is_matrix(s);
  return normal(s, i) / (scaled ? std::sqrt(static_cast<double>(inner_of(s))) : 1);
}
double unit_outlier(const FillSite& s, std::int64_t i) {
  const bool here = s.role == Role::input && i % inner_of(s) == i / inner_of(s) * 37 % inner_of(s);
  return unit(s, i) * (here ? 100 : 1);
}

// Each feature of y is plus or minus one unit of h.
double one_unit(const FillSite& s, std::int64_t i) {
  const std::int64_t feature = i / inner_of(s);
  return i % inner_of(s) == feature * 37 % inner_of(s) ? (feature % 3 ? 1 : -1) : 0;
}
// z is a multiple of 64, where GELU is the identity or zero; so is b2, and their sum fits 8 significand bits.
double probe_units(const FillSite& s, std::int64_t i) {
  if (s.tensor == "b2") return static_cast<double>(i % 9 - 4) * 64;
  return is_w2(s) ? one_unit(s, i) : gemm_fills::probe_saturated(s, i);
}
// gelu_linear's `chosen`, seen through one unit per feature.
double chosen(const FillSite& s, std::int64_t i) {
  if (s.tensor == "b2") return 0;
  return is_w2(s) ? one_unit(s, i) : gemm_fills::chosen(s, i);
}

// The second half of the units nearly equals the first, and w2 subtracts it: a rounding of h shows in what is left.
double cancelling(const FillSite& s, std::int64_t i) {
  const std::int64_t half = s.dims[Axis::ffn] / 2, inner = inner_of(s);
  const double part = s.dtype == bf16 ? 0x1p-2 : 0x1p-5;
  const std::uint64_t kind = random::key(s.seed, 9, random::Purpose::kind);
  if (is_w2(s)) {
    const std::int64_t f = i % inner;
    if (f >= 2 * half) return unit(s, i) / 64;
    return f < half ? unit(s, i) : -unit(s, i - half);
  }
  if (s.role != Role::weight) return normal(s, i);
  const std::int64_t f = i / inner;
  if (f < half || f >= 2 * half) return unit(s, i);
  return unit(s, i - half * inner) * (1 - part * random::uniform(kind, draws::at(f)));
}
bool several_units(const Dims& d, DType) { return d[Axis::ffn] >= 16 && d[Axis::hidden] >= 8; }

// Tokens around and below the least normal value, w1 correspondingly large.
double subnormal_tokens(const FillSite& s, std::int64_t i) {
  const int least = info(s.dtype).format.min_exponent;
  if (s.role == Role::input) return normal(s, i) * random::power_of_two(least);
  return unit(s, i) * (s.tensor == "w1" ? random::power_of_two(-least - 2) : 1);
}
// Units up to 8,000, whose sums overflow an f16 accumulator.
double large_units(const FillSite& s, std::int64_t i) {
  if (is_w2(s)) return unit(s, i) / 16;
  return unit(s, i) * (s.tensor == "w1" ? 2000 : 1);
}

}  // namespace

static Hooks hooks() {
  return {
      .fills = {{.name = "probe_units",
                 .shows = "a wrong index, unit or channel; exact",
                 .value = probe_units,
                 .exact = draws::always},
                {.name = "fan_in", .shows = "the rounding error of sums at a model's extents", .value = fan_in},
                {.name = "chosen", .shows = "the wrong activation form, or a coarse approximation of it", .value = chosen},
                {.name = "unit", .shows = "an activation that is wrong near its bends", .value = unit},
                {.name = "unit_outlier", .shows = "a small term lost next to a large one", .value = unit_outlier},
                {.name = "cancelling", .shows = "z or h rounded to 16 bits", .value = cancelling, .applies = several_units},
                {.name = "subnormal_tokens", .shows = "subnormal inputs flushed to zero", .value = subnormal_tokens},
                {.name = "large_units", .shows = "a sum that overflows the storage dtype before the end", .value = large_units},
                gemm_fills::kSpecialWeights,
                gemm_fills::kInfiniteTails,
                gemm_fills::kSilentUnits},
  };
}

static const LinkedHooks<ffn_gelu> linked(hooks);

}  // namespace assay
