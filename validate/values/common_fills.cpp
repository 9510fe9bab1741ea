// SPDX-License-Identifier: Apache-2.0
// The fills shared by all ops.  A fill's values go to inputs; weights are N(0, 1) unless the fill says otherwise.  Values that
// would dominate the result if every input had them (a large mean, values near the largest) go to the first input only; the
// others stay N(0, 1), so that the bound stays sharp.
#include "validate/values/common_fills.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "validate/values/draws.hpp"

namespace assay {
namespace {

using namespace draws;

// A row is the last axis; all other axes together count rows.
std::int64_t cols(const FillSite& s) { return s.shape.empty() ? 1 : s.shape.back(); }
std::int64_t rows(const FillSite& s) {
  std::int64_t n = 1;
  for (std::size_t i = 0; i + 1 < s.shape.size(); ++i) n *= s.shape[i];
  return n;
}
bool first_input(const FillSite& s) { return s.role == Role::input && s.tensor_index == 0; }

double uniform01(const FillSite& s, std::int64_t i) { return s.role == Role::input ? uniform(s, i) : normal(s, i); }

// Values in [0.1, 0.2) need rounding in every binary format.
double all_equal(const FillSite& s, std::int64_t i) {
  return s.role == Role::input ? 0.1 + 0.1 * random::uniform(key(s, Purpose::tensor), 0) : normal(s, i);
}
double constant_rows(const FillSite& s, std::int64_t i) {
  return s.role == Role::input ? random::normal(key(s, Purpose::row), at(i / cols(s))) : normal(s, i);
}

template <int kMean>
double large_mean(const FillSite& s, std::int64_t i) {
  return normal(s, i) + (first_input(s) ? kMean : 0);
}

double one_outlier(const FillSite& s, std::int64_t i) {
  if (s.role != Role::input) return normal(s, i);
  const std::int64_t row = i / cols(s), col = i % cols(s);
  if (col != draw(s, Purpose::column, row, cols(s))) return normal(s, i);
  return sign(s, row) * (1000 + 1000 * uniform(s, i));  // 2000 at most, within f16
}

// Half of the values are below the least normal of the dtype, half up to 16 times it.  A quarter of the weights are zero, where
// the output is small enough to show flushed inputs.
double subnormals(const FillSite& s, std::int64_t i) {
  const std::uint64_t kind = key(s, Purpose::kind);
  if (s.role != Role::input) return random::one_in(kind, at(i), 4) ? 0 : normal(s, i);
  const double least_normal = random::power_of_two(info(s.dtype).format.min_exponent);
  const double scale = random::bits(kind, at(i)) & 1 ? 1 : 16;
  return sign(s, i) * scale * least_normal * uniform(s, i);
}

// Exponents are uniform.  2^40 squared, summed over 1e5 elements, is 2^97, within f32.
double wide_range(const FillSite& s, std::int64_t i) {
  if (s.role != Role::input) return normal(s, i);
  const int highest = s.dtype == f16 ? 15 : 40, lowest = s.dtype == f16 ? -14 : -40;
  const int e = lowest + static_cast<int>(draw(s, Purpose::exponent, i, highest - lowest));
  return sign(s, i) * random::power_of_two(e) * (1 + 0.999 * uniform(s, i));
}

// f16: 59000 ... 61000, one in 16 the largest finite value; other dtypes: 2^39 ... 2^40.  Later inputs have one such element in
// eight.
double near_max(const FillSite& s, std::int64_t i) {
  if (s.role != Role::input) return normal(s, i);
  const std::uint64_t kind = key(s, Purpose::kind);
  if (!first_input(s) && !random::one_in(kind, at(i), 8)) return normal(s, i);
  if (s.dtype != f16) return sign(s, i) * 0x1p39 * (1 + 0.99 * uniform(s, i));
  const bool largest = first_input(s) && random::one_in(kind, at(i), 16);
  return sign(s, i) * (largest ? 65504 : 59000 + 2000 * uniform(s, i));
}

// An eighth of the values are the largest of the dtype, an eighth half of it or more, an eighth 1 to 16 times the least normal
// one; the others are uniform in [-32, 32).
double extremes(const FillSite& s, std::int64_t i) {
  if (s.role != Role::input) return normal(s, i);
  const FloatFormat f = info(s.dtype).format;
  const double most = is_float(s.dtype) ? largest(f) : info(s.dtype).largest;
  switch (draw(s, Purpose::kind, i, 8)) {
    case 0: return sign(s, i) * most;
    case 1: return sign(s, i) * most * (1 - uniform(s, i) / 2);
    case 2: return sign(s, i) * random::power_of_two(f.min_exponent) * (1 + 15 * uniform(s, i));
    default: return 64 * uniform(s, i) - 32;
  }
}

// Rows of inputs lie at either end of what a square may have: 2^50 or 2^-50 times as large as usual (f16: 2^10), in all
// combinations of two inputs.
double row_scales(const FillSite& s, std::int64_t i) {
  if (s.role != Role::input || s.shape.size() < 2) return normal(s, i);
  const int power = s.dtype == f16 ? 10 : 50;
  const bool large = (i / cols(s)) >> s.tensor_index & 1;
  return normal(s, i) * random::power_of_two(large ? power : -power);
}

// Rows of inputs are from 2^-16 to 2^6 times as large as usual (f16: 2^-12 to 2^3), each by its own power of two, the same in all
// inputs: so some are as
// small as what is added to them, such as epsilon, and some beyond where a formula clamps, chooses or saturates.
double row_sizes(const FillSite& s, std::int64_t i) {
  if (s.role != Role::input) return normal(s, i);
  const int lowest = s.dtype == f16 ? -12 : -16, highest = s.dtype == f16 ? 3 : 6;
  const int power = lowest + static_cast<int>(random::index(shared_key(s, Purpose::row), i / cols(s), highest - lowest + 1));
  return normal(s, i) * random::power_of_two(power);
}

// About half of the rows, never all, are +0.
double zero_rows(const FillSite& s, std::int64_t i) {
  const std::int64_t row = i / cols(s);
  const bool zero =
      s.role == Role::input && random::bits(key(s, Purpose::row), at(row)) & 1 && row != draw(s, Purpose::kind, 0, rows(s));
  return zero ? 0 : normal(s, i);
}
// Half the elements are zeros of either sign.
double signed_zeros(const FillSite& s, std::int64_t i) {
  const bool zero = s.role == Role::input && random::bits(key(s, Purpose::kind), at(i)) & 1;
  return zero ? 0.0 * sign(s, i) : normal(s, i);
}

// One row in each block of 16 rows (or in all, if fewer) has one special element: at least one row, and never all of several.
bool special_here(const FillSite& s, std::int64_t i) {
  const std::int64_t period = std::min<std::int64_t>(rows(s), 16), row = i / cols(s), block = row / period;
  return row % period == draw(s, Purpose::row, block, period) && i % cols(s) == draw(s, Purpose::column, row, cols(s));
}

template <Special kKind>
double special_first(const FillSite& s, std::int64_t i) {
  return first_input(s) && special_here(s, i) ? value_of(kKind) : normal(s, i);
}
double special_later(const FillSite& s, std::int64_t i) {
  if (s.role != Role::input || s.tensor_index == 0 || !special_here(s, i)) return normal(s, i);
  return special(draw(s, Purpose::kind, i, 3));
}

// One row in each block of 16 (or in all, if fewer), the same in all tensors, is zeros in the first input and has a special
// element in the others; in half of the cases it is the other way round.
double special_at_zeros(const FillSite& s, std::int64_t i) {
  const std::int64_t period = std::min<std::int64_t>(rows(s), 16), row = i / cols(s);
  if (row % period != static_cast<std::int64_t>(shared_key(s, Purpose::row) % 16) % period) return normal(s, i);
  const bool first_is_zero = shared_key(s, Purpose::kind) & 1;
  if (first_input(s) == first_is_zero) return 0;
  return i % cols(s) == draw(s, Purpose::column, row, cols(s)) ? special(draw(s, Purpose::kind, i, 3)) : normal(s, i);
}

// All tensors but the first input look like a fresh module's at their ends.  These are up to four elements, a quarter of the row,
// at both ends of each row and, from three rows on, the first and the last row.  They are 0; in gamma they are 1, and in one
// gamma of four 0 as well.
double fresh_ends(const FillSite& s, std::int64_t i) {
  const std::int64_t row = i / cols(s), col = i % cols(s);
  const std::int64_t few = std::min<std::int64_t>(4, cols(s) / 4);
  const bool end = col < few || col >= cols(s) - few || (rows(s) > 2 && (row == 0 || row == rows(s) - 1));
  if (first_input(s) || !end) return normal(s, i);
  return s.tensor.find("gamma") != std::string_view::npos && !random::one_in(key(s, Purpose::tensor), 0, 4) ? 1 : 0;
}

// In all tensors but the first input, the first half of a row is 1 in gamma and 0 elsewhere, whatever the rest is.  In inputs
// this holds for even rows only.
double fresh_starts(const FillSite& s, std::int64_t i) {
  const std::int64_t row = i / cols(s), col = i % cols(s);
  if (first_input(s) || col >= cols(s) / 2 || (s.role == Role::input && row % 2 == 1)) return normal(s, i);
  return s.tensor.find("gamma") != std::string_view::npos ? 1 : 0;
}

// All weights are as in a fresh module: gammas 1, other vectors 0.  The first input has another mean and deviation than a norm
// gives.
double fresh_weights(const FillSite& s, std::int64_t i) {
  if (first_input(s)) return 1 + 3 * normal(s, i);
  if (s.role != Role::weight || s.shape.size() != 1) return normal(s, i);
  return s.tensor.find("gamma") != std::string_view::npos ? 1 : 0;
}

// Every other row of the first input begins and ends with NaN, so that it lies beside the rows between, whatever their length.
double nan_at_ends(const FillSite& s, std::int64_t i) {
  const std::int64_t row = i / cols(s), col = i % cols(s);
  return first_input(s) && row % 2 == 1 && (col == 0 || col == cols(s) - 1) ? value_of(Special::nan) : normal(s, i);
}

// Each column has its own value (1021 of them, a prime, so that no tile repeats), neighbouring rows differ in scale, tensors in
// their start; 11 significand bits hold the differences.
double ramp(const FillSite& s, std::int64_t i) {
  constexpr std::int64_t kSteps = 1021;
  const std::int64_t row = i / cols(s), col = i % cols(s);
  const std::int64_t step = (col + 97 * s.tensor_index) % kSteps - kSteps / 2;
  return static_cast<double>(step) / 256 * (1 + static_cast<double>(row % 5) / 4);
}

constexpr std::array kCommon{
    Fill{.name = "normal",
         .shows = "a wrong formula, index or tail; bounds are sharpest here",
         .value = normal,
         .scattered = true},
    Fill{"uniform01", "sums whose rounding errors do not cancel", true, uniform01},
    Fill{"all_equal", "a variance made of rounding errors, and ties", true, all_equal},
    Fill{"constant_rows", "the mean or variance of another row", true, constant_rows},
    Fill{"large_mean_10", "a one-pass variance in the storage dtype", true, large_mean<10>},
    Fill{"large_mean_100", "a one-pass variance in 16 bits, a mean rounded to the storage dtype", true, large_mean<100>},
    Fill{"large_mean_1000", "a one-pass variance in f32", true, large_mean<1000>},
    Fill{.name = "one_outlier",
         .shows = "a small term lost next to a large one, a maximum taken from the wrong lane",
         .value = one_outlier,
         .scattered = true},
    Fill{"subnormals", "subnormals flushed to zero, a reciprocal that overflows", false, subnormals},
    Fill{"wide_range", "an intermediate in a narrow dtype", false, wide_range},
    Fill{"near_max", "a sum or a square that overflows the storage dtype", false, near_max},
    Fill{"extremes", "an intermediate that overflows or underflows where the result does not", false, extremes},
    Fill{"row_scales", "a cube or a product of three that overflows or underflows where the result does not", false, row_scales},
    Fill{.name = "row_sizes",
         .shows = "a wrong epsilon or its place, a wrong limit, a function wrong where it is flat",
         .value = row_sizes,
         .scattered = true},
    Fill{"zero_rows", "division by the norm of a row of zeros", false, zero_rows},
    Fill{"signed_zeros", "a test for zero, or a mask, that depends on the sign of zero", false, signed_zeros},
    Fill{"nan_in_row", "a NaN that a comparison drops or that leaks into other rows", false, special_first<Special::nan>},
    Fill{"inf_in_row", "an infinity clamped to the largest value or leaked into other rows", false, special_first<Special::inf>},
    Fill{"neg_inf_in_row", "minus infinity treated as a mask, or leaked into other rows", false,
         special_first<Special::minus_inf>},
    Fill{"nan_at_ends", "a row of odd length whose last access takes in its neighbour", false, nan_at_ends},
    Fill{"special_later_input", "NaN or inf in a later input that is dropped, or reaches outputs that do not depend on it", false,
         special_later},
    Fill{"special_at_zeros", "a row left out because a factor is 0, though the other is NaN or inf", false, special_at_zeros},
    Fill{"fresh_ends", "a guess from a tensor's ends: that it is fresh, or a matrix triangular", false, fresh_ends},
    Fill{"fresh_starts", "a guess from a row's first elements: that all are ones or zeros", false, fresh_starts},
    Fill{"fresh_weights", "a norm left out where gamma is 1 and beta 0", false, fresh_weights},
    Fill{"ramp", "columns, tensors or neighbouring rows swapped", true, ramp},
};

// How many indices the axis has that a tensor's integers index.
std::int64_t places(const FillSite& s) { return s.dims[s.holds->axis]; }

}  // namespace

std::span<const Fill> common_fills() { return kCommon; }

std::int64_t last_place(const FillSite& s, std::int64_t) { return places(s) - 1; }
std::int64_t last_place_first(const FillSite& s, std::int64_t i) { return places(s) - 1 - i % places(s); }

std::int64_t any_place(const FillSite& s, std::int64_t i) {
  const std::uint64_t kind = random::bits(draws::key(s, Purpose::kind), draws::at(i));
  if (kind % 8 == 0) return kind & 8 ? last_place(s, i) : 0;
  return draws::draw(s, Purpose::value, i, places(s));
}

std::int64_t round_place(const FillSite& s, std::int64_t i) {
  constexpr std::int64_t kSteps[] = {16, 24, 32, 48, 64, 96, 128, 256, 512, 768, 1024, 1536, 2048, 4096, 8192, 16384};
  const std::int64_t step = kSteps[draws::draw(s, Purpose::kind, i, std::size(kSteps))], last = last_place(s, i);
  return std::min(last, step * draws::draw(s, Purpose::value, i, last / step + 1));
}

}  // namespace assay
