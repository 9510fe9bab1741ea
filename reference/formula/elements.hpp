// SPDX-License-Identifier: Apache-2.0
// What operations on one element, or on two, give in f64.
#pragma once

#include <cmath>
#include <limits>

#include "ops/core/activation.hpp"
#include "reference/formula/graph.hpp"
#include "reference/formula/loops.hpp"

namespace assay::formula {

inline double apply(Kind kind, double x) {
  switch (kind) {
    case Kind::negate: return -x;
    case Kind::square: return x * x;
    case Kind::absolute: return std::fabs(x);
    case Kind::exp: return std::exp(x);
    case Kind::log: return std::log(x);
    case Kind::tanh: return std::tanh(x);
    case Kind::erf: return std::erf(x);
    case Kind::sigmoid: return assay::detail::sigmoid(x);
    case Kind::softplus: return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
    case Kind::silu: return activation(Activation::silu, x);
    case Kind::gelu_tanh: return activation(Activation::gelu_tanh, x);
    case Kind::gelu_erf: return activation(Activation::gelu_erf, x);
    case Kind::sqrt: return std::sqrt(x);
    case Kind::rsqrt: return 1 / std::sqrt(x);
    default: return x;
  }
}

inline double apply(Kind kind, double a, double b) {
  switch (kind) {
    case Kind::add: return a + b;
    case Kind::subtract: return a - b;
    case Kind::multiply: return a * b;
    case Kind::divide: return a / b;
    case Kind::maximum: return larger(a, b);
    case Kind::quotient: return std::floor(a / b);
    case Kind::less: return a < b ? 1 : 0;
    case Kind::at_most: return a <= b ? 1 : 0;
    default: return -larger(-a, -b);
  }
}

// The power of two at x or next to it; 0 of 0, and NaN of what is negative.
inline double power_of_two(double x, bool above) {
  if (!(x > 0) || std::isinf(x)) return x < 0 ? std::numeric_limits<double>::quiet_NaN() : x;
  int exponent = 0;
  const double half_to_one = std::frexp(x, &exponent);
  return std::ldexp(above && half_to_one != 0.5 ? 1.0 : 0.5, exponent);
}

// The number to which a staircase moves x (is_staircase).
inline double on_staircase(const Node& node, double x) {
  switch (node.kind) {
    case Kind::round: return std::nearbyint(x);
    case Kind::floor: return std::floor(x);
    case Kind::ceil: return std::ceil(x);
    case Kind::pow2_floor: return power_of_two(x, false);
    case Kind::pow2_ceil: return power_of_two(x, true);
    default: return round_to(node.to, x);
  }
}

}  // namespace assay::formula
