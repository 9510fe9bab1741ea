// SPDX-License-Identifier: Apache-2.0
// The types from which an op's contract is written.  An op `OP` is a struct of that name in ops/OP.hpp with
//
//   struct Args                                   run-time typed tensors, the shape beside each, and the attributes
//   static constexpr AxisUse axes[]
//   static void bind(Args&, visitor)              names every tensor (input, weight, output: a shape of axes, see
//                                                 TensorOptions), every attribute (its default) and every choice (an
//                                                 enum's names, the default first)
//   static Legality legal(const Args&)            optional: for which arguments the op is defined; tensors may have no data
//   static int64 row_of(const Args&, int output, int64 i)
//                                                 optional: the row (rows.hpp) of element i; default: i divided by the
//                                                 extent of the output's last axis
//   static Cost cost(const Args&)                 optional: the work that its masks and tables leave, and the traffic of an
//                                                 unfused pipeline; default: those of its formula
//   static std::vector<Stage> stages(const Args&)
//                                                 only of an op composed of other ops, which needs no formula: each output is an
//                                                 output of one stage; stages are in execution order (stage.hpp)
//
// The formula in reference/OP.cpp says what is right.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ops/core/axes.hpp"
#include "ops/core/contents.hpp"
#include "ops/core/dtype.hpp"
#include "ops/core/rows.hpp"
#include "ops/core/stage.hpp"
#include "ops/core/tensor.hpp"

namespace assay {

// Whether a case is legal, or a kernel supports it; if not, `why` says so in one clause.
struct Legality {
  bool ok = true;
  std::string why;
  static Legality yes() { return {}; }
  static Legality no(std::string why) { return {false, std::move(why)}; }
  explicit operator bool() const { return ok; }
};

// The least work of an op, by formula: floating-point operations, and bytes of device memory with each input read once and
// each output written once.  unfused_bytes: the same for a pipeline with one kernel per step.
struct Cost {
  double flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  double unfused_bytes = 0;
  double bytes() const { return bytes_read + bytes_written; }
};

// The longest chain of dependent additions in a sum of n terms: `lanes` partial sums side by side, each a serial
// chain, then `extra` additions to join them.
struct Chain {
  std::int64_t lanes = 1;
  std::int64_t extra = 0;
  // The number of additions that can round: adding a zero does not, so n terms have at most n - 1.
  constexpr std::int64_t roundings(std::int64_t n) const { return std::min((n + lanes - 1) / lanes + extra, n - 1); }
  bool operator==(const Chain&) const = default;
};

// The number of roundings in a division by n: 0 for a power of two (underflow aside), else 1.
constexpr int division_roundings(std::int64_t n) { return std::has_single_bit(static_cast<std::uint64_t>(n)) ? 0 : 1; }

// Factors of products, rounded to nearest to `precision` significand bits with f32's exponents before they are multiplied: in
// one piece, or as a sum of pieces x = x1 + x2 + ..., each the rounded rest of x.  Of the products x_i y_j at least those with
// i + j <= pieces + 1 are added: `products` of them for a term.
struct Factors {
  int precision = 0;  // 11: tf32, 8: bf16; 0: factors are not narrowed
  int pieces = 1;
  int products = 1;
  constexpr double unit() const { return detail::exp2i(-precision); }
  // Half the least subnormal, and where rounding overflows.
  constexpr double floor() const { return detail::exp2i(info(DType::f32).format.min_exponent - precision); }
  constexpr double threshold() const { return overflow_threshold(DType::f32) / (2 - 0x1p-24) * (2 - unit()); }
  bool operator==(const Factors&) const = default;
};

// How a kernel computes.  Its bound depends on this and on the data only.
struct Numerics {
  DType accumulate = DType::f32;    // format of sums and of all values between input and output
  Chain chain{};                    // of the sums
  Factors factors{};                // of products
  std::int64_t mma_terms = 0;       // products that a tensor-core step adds before it truncates (8 covers any GPU); 0: no mma
  std::string_view stores{};        // steps of the formula whose results are rounded to the storage dtype: "scores,weights",
                                    // "all"; "weights:f16" to another dtype (stored.hpp)
  std::string_view ways{};          // of steps that have two ways to be computed: those that take the second
  bool cancelling_gelu = false;     // GELU as x/2 (1 + tanh) or x/2 (1 + erf), which cancels for negative x
  double function_error = 4;        // relative error of exp, log, tanh, erf, sin, cos in units of 2^-24 (CUDA's expf: 2 ulp)
  double exponent_error = 0;        // sigmoid: relative error of the exponent that exp2 takes for exp, in units of 2^-24
  double quotient_error = 1;        // relative error of a quotient (sigmoid, softmax, norms), in units of 2^-24; 1: a division
  double root_error = 1;            // norms: relative error of a square root, in units of 2^-24
  bool tanh_sigmoid = false;        // sigmoid as (1 + tanh(z/2))/2, which cancels for negative z
  bool fused_exponent = false;      // exp(x - y), in softmax y = max, by one FMA: exp2(x log2(e) - y log2(e))
  bool folded_affine = false;       // LayerNorm: x (r gamma) + (beta - mean r gamma)
  bool running_moments = false;     // LayerNorm: mean and variance updated value by value (Welford 1962), chain.lanes = 1
  bool flushes_subnormals = false;  // subnormal results of these functions become zero
  bool flushes_storage = false;     // inputs, outputs and sums in memory below 2^-126, f32's normal range, become zero
  double angle_error = 0;           // rope: relative error of an angle in units of 2^-24, before its reduction mod 2 pi
  double reduced_angle_error = 0;   // rope: absolute error of the reduced angle, in units of 2^-24 radians
  Chain rescales{.lanes = 0};       // online softmax: how often a sum is multiplied by exp(old max - new max); lanes 0: never
  Numerics (*of_output)(const void* args, int output) = nullptr;  // op with stages: numerics of the step that computes an output
  // Whether the kernel meets an answer that is exactly representable in the storage dtype (exact probes).
  bool exact_where_representable(DType storage) const {
    return unit_roundoff(accumulate) <= unit_roundoff(storage) && factors.precision == 0 && quotient_error <= 1 &&
           root_error <= 1 && !fused_exponent && !folded_affine && !running_moments;
  }
  // Whether sums or factors may overflow where those of f32 do not.
  bool smaller_range() const { return accumulate == DType::f16 || factors.precision != 0; }
  bool operator==(const Numerics&) const = default;
};

// Relative error of a product whose factors' relative errors add up to rho; infinite from rho = 1 on.
inline double compounded(double rho) { return rho < 1 ? rho / (1 - rho) : std::numeric_limits<double>::infinity(); }

// What an exponent by one FMA (softmax.hpp) adds to the relative error of a softmax with this maximum, which uses it `times`.
inline double fused_exponent_error(const Numerics& numerics, double times, double rescales, double max, double spread) {
  if (!numerics.fused_exponent) return 0;
  return unit_roundoff(numerics.accumulate) * (times * std::fabs(max) + 2 * rescales * (std::fabs(max) + spread));
}

// Error of one rounding to a dtype of a value v that is known within `error`.
inline double rounding_error(DType t, double v, double error) {
  return unit_roundoff(t) * (std::fabs(v) + error) + rounding_floor(t);
}

// How rounding errors add up.  A case's fill declares one of the first two: like a random walk, or all with one sign.
// `typical` is no property of a fill: it gives sqrt(3) standard deviations of independent errors, which of one rounding is the
// largest error.  A walk of n roundings then counts sqrt(n), not 6 sqrt(n), and chains that otherwise count their worst case n
// count as walks too.  Errors of functions and constants, which may be the same in every element, count in full.  The rms check
// uses it (validate/judge/aggregate.hpp).
enum class Errors { independent, coherent, typical };

inline constexpr double kLambda = 6;  // standard deviations: one in 5e8 random walks ends further out
constexpr double deviations(Errors e) { return e == Errors::typical ? 1 : kLambda; }
// The most roundings by which a chain of n can be off: n, or as a walk if errors are independent.
inline double walked(Errors e, double n) { return e == Errors::coherent ? n : std::min(n, deviations(e) * std::sqrt(n)); }
// The same for chains that keep their worst case n under every fill.  Only `typical` counts them as a walk.
inline double kept(Errors e, double n) { return e == Errors::typical ? walked(e, n) : n; }

// A shape, innermost last: axes, or extents that follow from one, as blocks(Axis::cols, 128).
using AxisList = std::initializer_list<Extent>;

// Properties of a tensor beside its shape.
struct TensorOptions {
  std::optional<DType> dtype{};      // fixed dtype; empty: the case's
  std::string_view present_if{};     // present only if this choice is not at its default; absent: no data, rank 0
  std::uint32_t present_values = 0;  // if not 0: present only for these values of the choice (bit k: value k)
  Contents holds{};                  // what an input's elements are
  std::string_view in_place_of{};    // in-place output: it shares the memory of this input, which the kernel may overwrite,
  std::string_view in_place_if{};    // if this choice is not at its default
  std::string_view merged_if{};      // if this choice is not at its default, the first two axes are addressed by one stride
  bool updated = false;              // an output that is also read: it starts with the fill's values
};

// The names of a choice's values, the default first.
using Words = std::initializer_list<std::string_view>;

}  // namespace assay
