// SPDX-License-Identifier: Apache-2.0
// Judge hooks of softmax: exact probes, fills.
#include "ops/softmax.hpp"

#include <algorithm>
#include <bit>

#include "validate/ops/row_fills.hpp"

namespace assay {

namespace {

using namespace row_fills;

std::int64_t cols_of(const FillSite& s) { return s.dims[Axis::cols]; }

// 2^j columns of row r, spread evenly, share the maximum; all others are 1000 lower, where exp underflows to 0 even in f64.  So y
// is 2^-j or 0 exactly, and its pattern shows which columns were read.  Maxima differ between rows; most are negative.
double probe_hot(const FillSite& s, std::int64_t i) {
  const std::int64_t cols = cols_of(s), row = i / cols, col = i % cols;
  const std::int64_t most = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(cols)));
  const std::int64_t hot = std::min(std::int64_t{1} << row % 7, most), apart = cols / hot;
  const std::int64_t first = draw(s, Purpose::column, row, cols), place = (col - first + cols) % cols;
  const double max = static_cast<double>(row % 5 * 8 - 28);
  return place % apart == 0 && place / apart < hot ? max : max - 1024;
}

// Every row is constant, and cols is a power of two: y = 1/cols exactly.
double probe_uniform(const FillSite& s, std::int64_t i) { return static_cast<double>(i / cols_of(s) % 11 - 9); }

// The first column's term is 1, all others 2e-4: below half an ulp of a 16-bit sum, but together up to many times the first.
double stagnation(const FillSite& s, std::int64_t i) { return i % cols_of(s) == 0 ? 0 : -8.5; }

// The maximum comes first.
double falling(const FillSite& s, std::int64_t i) {
  return 0.25 * normal(s, i) + 12 - 24 * static_cast<double>(i % cols_of(s)) / static_cast<double>(cols_of(s));
}

// Rows with the same differences at different heights, -640 ... 512, which do not change y.
double shifted_rows(const FillSite& s, std::int64_t i) {
  const std::int64_t row = i / cols_of(s);
  return static_cast<double>(draw(s, Purpose::kind, i, 9)) - 4 + static_cast<double>(row % 10 * 128 - 640);
}

bool power_of_two_cols(const Dims& d, DType) { return std::has_single_bit(static_cast<std::uint64_t>(d[Axis::cols])); }

}  // namespace

static Hooks hooks() {
  return {.fills = {{.name = "probe_hot",
                     .shows = "a column dropped, read twice or of another row, a maximum that starts at zero; exact",
                     .coherent = true,
                     .value = probe_hot,
                     .exact = always},
                    {.name = "probe_uniform",
                     .shows = "a padding column that is included; exact",
                     .coherent = true,
                     .value = probe_uniform,
                     .exact = power_of_two_cols,
                     .applies = power_of_two_cols},
                    kLowest,
                    kTies,
                    kSpread200,
                    {.name = "all_far_below_zero",
                     .shows = "a maximum that starts at zero, a padding column that is included",
                     .value = all_far_below_zero},
                    kMinusInfinity,
                    {.name = "stagnation",
                     .shows = "a sum in the storage dtype, which absorbs small terms",
                     .coherent = true,
                     .value = stagnation},
                    {.name = "rising", .shows = "an online sum that is not rescaled", .value = rising},
                    {.name = "falling", .shows = "an online sum that is rescaled the wrong way", .value = falling},
                    {.name = "shifted_rows", .shows = "the maximum of another row", .coherent = true, .value = shifted_rows}}};
}

static const LinkedHooks<softmax> linked(hooks);

}  // namespace assay
