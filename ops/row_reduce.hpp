// SPDX-License-Identifier: Apache-2.0
// Reduces each row of x to one value, in f32 whatever the dtype of x:
//   sum             y[r] = sum_c x[r,c]              max         y[r] = max_c x[r,c]
//   sum_of_squares  y[r] = sum_c x[r,c]^2            logsumexp   y[r] = log sum_c exp(x[r,c])
//
// y is [rows].  To reduce a whole contiguous tensor, take it as one row (rows=1), which may have more than 2^31 elements.  A NaN
// gives NaN.  inf - inf in a sum is NaN; logsumexp is inf if an element is inf, and -inf if all are -inf.  With cols = 0 y is the
// neutral element: 0 for sum and sum_of_squares, -inf for max and logsumexp.  No rows give an empty y.
#pragma once

#include <algorithm>

#include "ops/core/gemm_bound.hpp"

namespace assay {

enum class Reduction : std::uint8_t { sum, max, logsumexp, sum_of_squares };

struct row_reduce {
  struct Args {
    Tensor x;  // [rows, cols]
    Tensor y;  // [rows], f32, written
    Reduction what = Reduction::sum;
  };
  struct Golden {
    Array y;          // [rows]
    Array magnitude;  // [rows], sum: sum |x|; sum_of_squares: sum x^2; others: max
    Array second;     // [rows], sum: sum x^2; logsumexp: sum of p |x - max|, p = softmax(x); max: 1 if zeros of both signs
  };

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 0}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.output("y", a.y, {Axis::rows}, {.dtype = f32});
    v.choice("what", a.what, {"sum", "max", "logsumexp", "sum_of_squares"});
  }
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    v.array("y", g.y, {Axis::rows});
    v.array("magnitude", g.magnitude, {Axis::rows});
    v.array("second", g.second, {Axis::rows});
  }

  static Legality legal(const Args&) { return Legality::yes(); }

  // u: unit roundoff of the accumulator, n: the roundings of the longest chain of additions, f: the relative error of exp and
  // log.  r roundings in a row have a relative error of r u / (1 - r u); from r u = 1 on it is infinite.  All bounds are worst
  // case except that of sum with independent errors:
  //
  //   sum             n additions: n u sum |x|; independent: a random walk, as in gemm_bound.hpp,
  //                                                                                 lambda sqrt(n) u (sqrt(sum x^2) + |y|)
  //   sum_of_squares  the square rounds too; one that underflows costs half the least subnormal:
  //                                                                                 (n + 1) u sum x^2 + cols floor
  //   max             equals an element of x:                                       0
  //                   where the largest are zeros of both signs, either is right:   less than any number but 0
  //   logsumexp       s = sum exp(x - max) >= 1 is within a relative rho = 3u spread + f + n u + rescales (f + u) (as in
  //                   softmax.hpp: 1 for the difference, 2 for kernels that change the base); subnormal terms add cols eta,
  //                   eta as there, an exponent by one FMA u|max| and 2u(|max| + spread) a rescale; log s is then off by
  //                   rho / (1 - rho), by f |log s| (log itself) and 2u |log s| (change of base); max + log s rounds, u |y|.
  // The output is f32, as the accumulator: no further rounding.  If subnormals in memory are flushed (an atomic addition flushes
  // the term, the sum before and the sum after), each of at most cols terms loses up to 3 x 2^-126.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, int /*output*/, std::int64_t i) {
    const std::int64_t cols = a.x.shape[1];
    if (a.what == Reduction::max && cols != 0) return g.second[static_cast<std::size_t>(i)] * 0x1p-200;
    if (cols == 0) return 0;
    const double u = unit_roundoff(numerics.accumulate), f = numerics.function_error * 0x1p-24;
    const double terms = static_cast<double>(cols), floor = rounding_floor(numerics.accumulate);
    const auto n = static_cast<double>(numerics.chain.roundings(cols));
    const auto row = static_cast<std::size_t>(i);
    const double y = g.y[row], magnitude = g.magnitude[row], flushed = numerics.flushes_storage ? 3 * terms * 0x1p-126 : 0;
    if (a.what == Reduction::sum) {
      const double worst = compounded(n * u) * magnitude + flushed;
      if (errors == Errors::coherent) return worst;
      return std::min(worst, deviations(errors) * std::sqrt(n) * u * (std::sqrt(g.second[row]) + std::fabs(y)) + flushed);
    }
    if (a.what == Reduction::sum_of_squares) return compounded(kept(errors, n + 1) * u) * magnitude + terms * floor + flushed;

    const double rescales = numerics.rescales.lanes ? static_cast<double>(numerics.rescales.roundings(cols)) : 0;
    const double eta = numerics.flushes_subnormals ? floor / u : numerics.function_error * floor;
    const double rho = 3 * u * g.second[row] + f + kept(errors, n) * u + rescales * (f + u) + terms * eta +
                       fused_exponent_error(numerics, 1, rescales, magnitude, g.second[row]);
    const double log_sum = y - magnitude;
    return compounded(rho) + (f + 2 * u) * log_sum + u * std::fabs(y) + floor;
  }

  // Reads x, writes y.  Operations per element: 1 for sum and max, 2 for sum_of_squares, 4 for logsumexp (maximum, difference,
  // exp, addition).  Unfused, squares or exps are also written and read, and exp needs a pass for the maximum.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.x.bytes()), y = static_cast<double>(a.y.bytes());
    const double operations = a.what == Reduction::logsumexp ? 4 : a.what == Reduction::sum_of_squares ? 2 : 1;
    const double passes = a.what == Reduction::logsumexp ? 4 : a.what == Reduction::sum_of_squares ? 3 : 1;
    return {.flops = operations * static_cast<double>(a.x.size()),
            .bytes_read = matrix,
            .bytes_written = y,
            .unfused_bytes = passes * matrix + y};
  }
};

}  // namespace assay
