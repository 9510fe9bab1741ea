// SPDX-License-Identifier: Apache-2.0
// Row softmax:  y[r,c] = exp(x[r,c] - m_r) / sum_c exp(x[r,c] - m_r),  m_r = max_c x[r,c]
//
// NaN and inf follow the formula: an element of -inf gives 0; a NaN or +inf makes its own row NaN (inf - inf), and no other; a
// row of only -inf is NaN.  No rows give an empty y; cols = 0 is illegal: there is no maximum.
#pragma once

#include <algorithm>
#include <cmath>

#include "ops/core/contract.hpp"

namespace assay {

struct softmax {
  struct Args {
    Tensor x;  // [rows, cols]
    Tensor y;  // [rows, cols], written
  };
  struct Golden {
    Array y;       // [rows, cols]
    Array max;     // [rows]
    Array spread;  // [rows], sum of y |x - max| over the columns where y > 0
  };

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.output("y", a.y, {Axis::rows, Axis::cols});
  }
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    v.array("y", g.y, {Axis::rows, Axis::cols});
    v.array("max", g.max, {Axis::rows});
    v.array("spread", g.spread, {Axis::rows});
  }

  static Legality legal(const Args&) { return Legality::yes(); }

  // Worst case, for independent and coherent errors: the terms of the sum are positive and often nearly equal, so a long serial
  // sum may round all of them the same way.  u: unit roundoff of the accumulator, d = x - max, f: the relative error of exp.
  //
  //   exp    the argument is off by 3u|d|: 1 for the difference; 2 for kernels that change the base (the constant log2(e) and
  //          the product).  So e = exp(d) has a relative error of 3u|d| + f.  A subnormal e has an absolute error: f/u times half
  //          the least subnormal, or the least normal value if exp flushes; call it eta.
  //   sum    s >= 1.  The errors of its terms add a relative 3u spread + f (spread = sum of p|d|), and n dependent additions
  //          n u.  An online sum is multiplied by exp(old max - new max) at each rescale, f + u each time; the arguments of
  //          these factors and of the term's own exp add up to d, which is already counted.
  //   fused  an exponent by one FMA, x c - fl(m c) with c = log2(e), has the rounding of c and its own, 2u|d|, which the 3u|d|
  //          cover, and u|m| from m c: in e and in the terms of the sum, 2u|m|.  A rescale uses m_old c and m_new c, each
  //          rounded: 2u(|m| + |d|) for the terms before it, whose |d| is at least m_new - m_old.
  //   p      e / s as a quotient with Q u (Numerics::quotient_error), 1/s before a product with u: (1 + Q) u; and absolute
  //          errors, eta from e (as s >= 1) and half the least subnormal from the product.
  //   out    a stored e: u_o p, and floor_o / s <= floor_o; the output: u_o |p| + floor_o.
  // If the relative errors of factors add up to rho, their product is off by rho / (1 - rho) at most.  min(rho, 0.5) keeps this
  // finite; rho reaches 0.5 only in sums with millions of roundings.  The factor 1 + 2^-10 covers products of relative and
  // absolute errors.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, int /*output*/, std::int64_t i) {
    const std::int64_t cols = a.x.shape[1], row = i / cols;
    const double u = unit_roundoff(numerics.accumulate), f = numerics.function_error * 0x1p-24;
    const auto n = static_cast<double>(numerics.chain.roundings(cols));
    const double rescales = numerics.rescales.lanes ? static_cast<double>(numerics.rescales.roundings(cols)) : 0;
    const double subnormal = rounding_floor(numerics.accumulate);
    const double eta = numerics.flushes_subnormals ? subnormal / u : numerics.function_error * subnormal;

    const double p = g.y[static_cast<std::size_t>(i)], spread = g.spread[static_cast<std::size_t>(row)];
    const double d = p > 0 ? std::fabs(a.x.at(i) - g.max[static_cast<std::size_t>(row)]) : 0;
    const double rho = 3 * u * (d + spread) + 2 * f + kept(errors, n) * u + rescales * (f + u) +
                       (1 + numerics.quotient_error) * u +
                       fused_exponent_error(numerics, 2, rescales, g.max[static_cast<std::size_t>(row)], spread);
    double t = p * rho / (1 - std::min(rho, 0.5)) + eta + subnormal;
    const double u_out = unit_roundoff(a.y.dtype), floor_out = rounding_floor(a.y.dtype);
    if (numerics.stores_intermediate) t += u_out * (p + t) + floor_out;
    t += u_out * (p + t) + floor_out;
    return t * (1 + 0x1p-10);
  }

  // Reads x, writes y.  Per element: maximum, difference, exp, addition, product.  Unfused, three passes: read x for the maxima;
  // read x, write e; read e, write y.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.x.bytes());
    return {.flops = 5.0 * static_cast<double>(a.x.size()),
            .bytes_read = matrix,
            .bytes_written = matrix,
            .unfused_bytes = 5 * matrix};
  }
};

}  // namespace assay
