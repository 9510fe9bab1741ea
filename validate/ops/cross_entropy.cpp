// SPDX-License-Identifier: Apache-2.0
// Judge hooks of cross_entropy: exact probes, fills.
#include "ops/cross_entropy.hpp"

#include "validate/ops/row_fills.hpp"
#include "validate/values/common_fills.hpp"

namespace assay {

namespace {

using namespace row_fills;

// One column far above all others, its place and height different per token: exp of the others underflows to 0 even in f64, so
// the loss is exactly the height above the target's, a multiple of 1024; 0 if the target is that column.
double probe_far(const FillSite& s, std::int64_t i) {
  const std::int64_t row = row_of(s, i), col = col_of(s, i), vocab = s.shape.back();
  if (col == draw(s, Purpose::column, row, vocab)) return static_cast<double>(row % 5 * 1024);
  return static_cast<double>(-1024 - (row + col) % 7 * 1024);
}
// The losses and their sum are exact; the mean is exact if the division is.
bool mean_is_exact(const Dims& d, DType) { return std::has_single_bit(static_cast<std::uint64_t>(d[Axis::tokens])); }

// With very few classes one may have all the probability, and the loss is 0.
Fill minus_infinity_of_several() {
  Fill f = kMinusInfinity;
  f.applies = [](const Dims& d, DType) { return d[Axis::vocab] >= 8; };
  return f;
}

// The losses of a quarter of the tokens are a 64th of the largest number, so that the sum of 256 tokens' leaves its range.
Fill lowest_of_few_tokens() {
  Fill f = kLowest;
  f.applies = [](const Dims& d, DType) { return d[Axis::tokens] < 256; };
  return f;
}

// Rows with the same differences at different heights, -640 ... 512, which do not change the loss.
double shifted_rows(const FillSite& s, std::int64_t i) {
  return static_cast<double>(draw(s, Purpose::kind, i, 9)) - 4 + static_cast<double>(row_of(s, i) % 10 * 128 - 640);
}

}  // namespace

static Hooks hooks() {
  return {.fills = {{.name = "probe_far",
                     .shows = "a wrong target or column, log of an underflowed exp; exact",
                     .coherent = true,
                     .value = probe_far,
                     .exact = mean_is_exact},
                    {.name = "shifted_rows",
                     .shows = "the maximum of another row, a logarithm added to a large maximum before the difference",
                     .coherent = true,
                     .value = shifted_rows},
                    lowest_of_few_tokens(),
                    kTies,
                    kSpread200,
                    kFarBelow,
                    kFaintRest,
                    minus_infinity_of_several(),
                    kRising}};
}

static const LinkedHooks<cross_entropy> linked(hooks);

}  // namespace assay
