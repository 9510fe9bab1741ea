// SPDX-License-Identifier: Apache-2.0
// Fills of ops that normalise rows [rows, cols].  In ops with a residual, x is chosen so that x + residual has the wanted value.
#pragma once

#include <bit>
#include <limits>

#include "validate/cases/case.hpp"
#include "validate/values/draws.hpp"

namespace assay::norm_fills {

using namespace draws;

inline std::int64_t cols_of(const FillSite& s) { return s.dims[Axis::cols]; }

// Small integers that differ from column to column, those of a residual also from row to row (modulo small primes).
inline double probe_residual(std::int64_t row, std::int64_t col) { return static_cast<double>((row * 7 + col * 3) % 29 - 14); }
inline double probe_beta(std::int64_t col) { return static_cast<double>(col % 17 - 8); }
inline double probe_gamma(std::int64_t col) { return static_cast<double>(1 + col % 13); }
inline double probe_any_gamma(std::int64_t col) {
  return static_cast<double>(col % 11 - 5);
}  // includes zero and negative values

// Rows m ± s, both signs equally often, s a power of two: mean m and deviation s are exact in f32 for any order of the sum, so
// with epsilon = 0 the normalised value is ±1 exactly.
inline double balanced(const FillSite& s, std::int64_t row, std::int64_t col) {
  const double mean = static_cast<double>(row % 5 - 2), deviation = static_cast<double>(1 << row % 3);
  // The first half of the columns has random signs; the second half has the opposite ones, which balances the row.
  const std::int64_t half = cols_of(s) / 2, place = col % half;
  const double sign = shared_sign(s, row * half + place);
  return mean + (col < half ? sign : -sign) * deviation;
}
inline bool even_cols(const Dims& d, DType) { return d[Axis::cols] % 2 == 0; }

inline double constant_row(std::int64_t row) { return static_cast<double>(row % 11 - 5); }

// Rows of ±s, s a power of two from 1/8 to 8: with epsilon = 0, x / root is ±1 exactly for any order of the sum.
inline double signs(const FillSite& s, std::int64_t row, std::int64_t col) {
  return shared_sign(s, row * cols_of(s) + col) * random::power_of_two(static_cast<int>(row % 7) - 3);
}
// One nonzero element per row, a power of two: x / root = sqrt(cols), a power of two if cols is a power of four.
inline double one_hot(const FillSite& s, std::int64_t row, std::int64_t col) {
  return col == row * 37 % cols_of(s) ? random::power_of_two(static_cast<int>(row % 5)) : 0;
}
inline bool no_epsilon(const Case& c) { return attribute(c, "epsilon", 1) == 0; }  // Note: the default is not 0
inline bool power_of_four(const Dims& d, DType) { return draws::is_power_of_four(d[Axis::cols]); }

// Builds an op's probe from Value(site, row, col), the element to be normalised, and Gamma(col).
template <double (*Value)(const FillSite&, std::int64_t, std::int64_t), double (*Gamma)(std::int64_t)>
double probe(const FillSite& s, std::int64_t i) {
  if (s.tensor == "gamma") return Gamma(i);
  if (s.tensor == "beta") return probe_beta(i);
  const std::int64_t row = i / cols_of(s), col = i % cols_of(s);
  return s.tensor == "residual" ? probe_residual(row, col) : Value(s, row, col);
}
template <double (*Value)(const FillSite&, std::int64_t, std::int64_t), double (*Gamma)(std::int64_t)>
double probe_sum(const FillSite& s, std::int64_t i) {
  const double residual = s.tensor == "x" ? probe_residual(i / cols_of(s), i % cols_of(s)) : 0;
  return probe<Value, Gamma>(s, i) - residual;
}
inline double constant(const FillSite&, std::int64_t row, std::int64_t) { return constant_row(row); }

// residual = -x, but for every kKept-th column (0: all columns).
template <std::int64_t kKept>
double opposite(const FillSite& s, std::int64_t i) {
  if (s.tensor != "residual" || (kKept && i % cols_of(s) % kKept == 0)) return normal(s, i);
  return -random::normal(shared_key(s, Purpose::value), at(i));
}

inline double large_rows(const FillSite& s, std::int64_t i) {
  const double v = normal(s, i);
  return s.tensor == "x" ? (v < 0 ? -8000 : 8000) + 500 * v : v;
}

// gamma 1, beta 0: a newly initialised norm.
inline double fresh(const FillSite& s, std::int64_t i) { return s.tensor == "gamma" ? 1 : s.tensor == "beta" ? 0 : normal(s, i); }

// Half of the inputs are zeros.  One element of gamma is infinite.
inline double special_gamma(const FillSite& s, std::int64_t i) {
  if (s.role == Role::input) return draw(s, Purpose::kind, i, 2) ? 0 : normal(s, i);
  const bool here = s.tensor == "gamma" && i == draw(s, Purpose::column, 0, s.shape.back());
  return here ? sign(s, i) * std::numeric_limits<double>::infinity() : normal(s, i);
}

inline constexpr Fill kSpecialGamma{
    .name = "special_gamma", .shows = "an infinity clamped, 0 times infinity taken for 0", .value = special_gamma};
inline constexpr Fill kFresh{.name = "fresh", .shows = "the error of the norm itself, not amplified by gamma", .value = fresh};
inline constexpr Fill kLarge{.name = "large_rows", .shows = "squares or their sum that overflow f16", .value = large_rows};

// Exact probes.  `value`: a probe of balanced rows, of constant ones, of signs or of one nonzero element.
constexpr Fill probe_of_balanced_rows(double (*value)(const FillSite&, std::int64_t)) {
  return {.name = "probe_signs",
          .shows = "a wrong index, weight or term; exact with epsilon = 0",
          .value = value,
          .exact = even_cols,
          .exact_with = no_epsilon,
          .applies = even_cols};
}
constexpr Fill probe_of_constant_rows(double (*value)(const FillSite&, std::int64_t)) {
  return {.name = "probe_constant_row",
          .shows = "a mean not subtracted exactly, another column's beta, or its residual where there is one; exact",
          .coherent = true,
          .value = value,
          .exact = always};
}
constexpr Fill probe_of_signs(double (*value)(const FillSite&, std::int64_t)) {
  return {.name = "probe_signs",
          .shows = "a wrong index or gamma; exact with epsilon = 0",
          .value = value,
          .exact = always,
          .exact_with = no_epsilon};
}
constexpr Fill probe_of_one_hot_rows(double (*value)(const FillSite&, std::int64_t)) {
  return {.name = "probe_one_hot",
          .shows = "the root or gamma of another row or column; exact with epsilon = 0",
          .value = value,
          .exact = power_of_four,
          .exact_with = no_epsilon,
          .applies = power_of_four};
}

}  // namespace assay::norm_fills
