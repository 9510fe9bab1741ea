// SPDX-License-Identifier: Apache-2.0
// GELU and SiLU: values, derivatives, and the error bound of a computed f(z) whose argument z is known within t.
//
//   silu(z) = z s(z)   gelu, tanh form = z s(v), v = 2 sqrt(2/pi) (z + 0.044715 z^3)   gelu, erf form = z/2 erfc(-z/sqrt 2)
//   with s(v) = 1/(1 + exp(-v)); x/2 (1 + tanh(v/2)) is the same function as z s(v).
//
// Argument error    |f(z + d) - f(z)| <= min(|f'(z)| t + max|f''| t^2 / 2, max|f'| t) for |d| <= t, with the maxima over all
//                   z (kBend, kSlope); below kTurn |f'| decreases towards 0, so |f'(z + t)| t is a bound as well.
// Rounding error    u = 2^-24, E u: the relative error of exp, tanh, erf (Numerics::function_error), z~ = z + d.
//   z w / (1 + e)   e = exp(-|v|), w = 1, or e for v < 0.  v has a relative error of 4u (z^2, two constants and the fma, the
//                   product), silu's v = z none; X u more where exp2 is taken of v log2(e) (Numerics::exponent_error: the
//                   constant and the product, 2); e then has (4 + X) u|v| + E u, which changes s by a relative 1 - s times
//                   that; z w and the sum round, the quotient errs by Q u (Numerics::quotient_error):
//                   u |f| (2 + Q + (1 - s)((4 + X)|v| + E)).
//   z/2 erfc(a)     a = -z/sqrt 2 errs by a relative 2u (constant, product), and erfc by a erfc'(a)/erfc(a) times that:
//                   at most z^2 + |z| for a > 0 (Mills' ratio), 1/2 for a < 0; erfcf errs by 4 ulp = 2E u; the product
//                   rounds:  u |f| (2E + 2 (m^2 + m) + 2), m = max(0, -z)
//   z/2 (1 + g)     g = tanh or erf (Numerics::cancelling_gelu), or silu's tanh(z/2) (Numerics::tanh_sigmoid): g errs by E u and
//                   by its argument's error, together at most (E + 2) u, since |w g'(w)| <= 1/2; cancellation in 1 + g keeps this
//                   absolute error; the sum and the product round:  u (|z|/2 (E + 2) + 2 |f|)
// Each term is evaluated where it is largest within t of z.  Underflow: a subnormal e or erfc errs by E or 2E times half the
// least subnormal, or, if it is flushed to zero (Numerics::flushes_subnormals), by up to the least normal number; z or z/2
// multiplies this error.  A subnormal product or quotient errs by half the least subnormal.
// Overflow: z / (1 + exp(-v)) is 0 where exp(-v) overflows, as in PyTorch's silu below -88.7, so the whole value may be lost
// there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "ops/core/contract.hpp"

namespace assay {

enum class Activation : std::uint8_t { gelu_tanh, gelu_erf, silu };

namespace detail {
inline constexpr double kSqrt2OverPi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
inline constexpr double kGeluCubic = 0.044715;
inline constexpr double kSlope = 1.13;  // max |f'|: 1.1289 and 1.1290 (gelu near 1.42), 1.0999 (silu near 2.40)
inline constexpr double kBend = 0.798;  // max |f''|: 0.79788 (gelu at 0), 1/2 (silu at 0)
inline constexpr double kTurn = -2.5;   // f'' < 0 below this (gelu: below -1.42, silu: below -2.40)

// v, the argument of the sigmoid, and dv/dz.
inline double sigmoid_argument(Activation f, double z) {
  return f == Activation::silu ? z : 2 * kSqrt2OverPi * z * (1 + kGeluCubic * z * z);
}
inline double sigmoid_argument_slope(Activation f, double z) {
  return f == Activation::silu ? 1 : 2 * kSqrt2OverPi * (1 + 3 * kGeluCubic * z * z);
}
// 1/(1 + exp(-v)), accurate for either sign of v.
inline double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }
// Whether exp(-v), with a relative error of `off`, may be beyond a format's largest number.
inline bool overflows_below(double v, double off, DType t) { return -v + off >= std::log(overflow_threshold(t)); }
}  // namespace detail

inline double activation(Activation f, double z) {
  if (f == Activation::gelu_erf) return z / 2 * std::erfc(-z / std::numbers::sqrt2);
  return z / (1 + std::exp(-detail::sigmoid_argument(f, z)));
}

inline double activation_slope(Activation f, double z) {
  if (f == Activation::gelu_erf)
    return std::erfc(-z / std::numbers::sqrt2) / 2 + z * std::exp(-z * z / 2) * detail::kSqrt2OverPi / 2;
  const double v = detail::sigmoid_argument(f, z), falls = detail::sigmoid(v) * detail::sigmoid(-v);
  return detail::sigmoid(v) + (falls > 0 ? z * falls * detail::sigmoid_argument_slope(f, z) : 0);
}

inline double activation_error(const Numerics& numerics, Activation f, double z, double t) {
  if (!(t < std::numeric_limits<double>::infinity())) return std::numeric_limits<double>::infinity();
  double moved = std::min(std::fabs(activation_slope(f, z)) * t + detail::kBend / 2 * t * t, detail::kSlope * t);
  if (z + t < detail::kTurn) moved = std::min(moved, std::fabs(activation_slope(f, z + t)) * t);
  const double u = unit_roundoff(numerics.accumulate), e = numerics.function_error;
  const double value = std::fabs(activation(f, z)) + moved, furthest = std::fabs(z) + t;
  double rounded = 0;
  if (f == Activation::silu ? numerics.tanh_sigmoid : numerics.cancelling_gelu) {
    rounded = furthest / 2 * (e + 2) + 2 * value;
  } else if (f == Activation::gelu_erf) {
    const double m = std::max(0.0, t - z);
    rounded = value * (2 * e + 2 * (m * m + m) + 2);
  } else {
    const double rest = detail::sigmoid(-detail::sigmoid_argument(f, z - t));  // 1 - s
    const double of_v = (f == Activation::silu ? 0 : 4) + numerics.exponent_error;
    const double exponent = of_v > 0 ? of_v * detail::sigmoid_argument(f, furthest) : 0;
    rounded = value * (2 + numerics.quotient_error + (rest > 0 ? rest * (exponent + e) : 0));
    const double lowest = detail::sigmoid_argument(f, z - t);
    if (detail::overflows_below(lowest, u * (e + of_v * std::fabs(lowest)), numerics.accumulate)) moved = std::max(moved, value);
  }
  const double flushed = numerics.flushes_subnormals ? 1 / u : e;
  return moved + u * rounded + (furthest * flushed + 2) * rounding_floor(numerics.accumulate);
}

}  // namespace assay
