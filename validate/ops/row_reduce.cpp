// SPDX-License-Identifier: Apache-2.0
// Judge hooks of row_reduce: exact probes, fills.
#include "ops/row_reduce.hpp"

#include "validate/ops/row_fills.hpp"

namespace assay {

namespace {

using namespace row_fills;

// -2048 everywhere except one column of +-32 ... 928, a multiple of 32.  sum, max, sum of squares and logsumexp (exp of the
// differences underflows to 0 even in f64) are exact and show which columns were read.  Odd rows are negative everywhere.
double probe_hot(const FillSite& s, std::int64_t i) {
  const std::int64_t row = row_of(s, i);
  if (col_of(s, i) != draw(s, Purpose::column, row, s.shape.back())) return -2048;
  return static_cast<double>(row % 29 + 1) * (row % 2 ? -32 : 32);
}
// Squares are 2^22 and multiples of 2^10: the sum of this many fits 24 bits.
bool sums_are_exact(const Dims& d, DType) { return d[Axis::cols] <= 4096; }

// 2048 in the first column, then ones: in f16 2048 + 1 is 2048.
double stagnation(const FillSite& s, std::int64_t i) { return col_of(s, i) == 0 ? 2048 : 1; }

// Pairs of opposite values, half a row apart, and one value of 64 to 128, which is the sum.
double cancelling(const FillSite& s, std::int64_t i) {
  const std::int64_t row = row_of(s, i), col = col_of(s, i), cols = s.shape.back(), half = cols / 2;
  if (col == 2 * half || (cols > 1 && cols % 2 == 0 && col == half)) return 64 + 64 * uniform(s, i);
  return 8 * normal(s, row * cols + col % half) * (col < half ? 1 : -1);
}

}  // namespace

static Hooks hooks() {
  return {.fills = {{.name = "probe_hot",
                     .shows = "a column dropped, read twice or of another row, a maximum that starts at zero; exact",
                     .coherent = true,
                     .value = probe_hot,
                     .exact = sums_are_exact},
                    {.name = "stagnation",
                     .shows = "a sum in the storage dtype, which absorbs small terms",
                     .coherent = true,
                     .value = stagnation},
                    {.name = "cancelling", .shows = "a partial sum in a narrow dtype", .value = cancelling},
                    kLowest,
                    kTies,
                    kSpread200,
                    kFarBelow,
                    kFaintRest,
                    kMinusInfinity,
                    kRising}};
}

static const LinkedHooks<row_reduce> linked(hooks);

}  // namespace assay
