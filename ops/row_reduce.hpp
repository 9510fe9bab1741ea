// SPDX-License-Identifier: Apache-2.0
// One value of each row of x, in f32 whatever the dtype of x:
//   sum             y[r] = sum_c x[r,c]              max         y[r] = max_c x[r,c]
//   sum_of_squares  y[r] = sum_c x[r,c]^2            logsumexp   y[r] = log sum_c exp(x[r,c])
//
// y is [rows].  A whole contiguous tensor is one row of all its elements, rows=1, and y is [1]; there may be more than 2^31 of
// them.  A NaN gives NaN.  inf - inf in a sum is NaN; logsumexp is inf where there is an inf, and -inf where there is nothing
// but -inf.  What no columns give is what changes nothing: 0, 0, -inf, -inf.  No rows give an empty y.
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
    Array magnitude;  // [rows], sum: sum |x|; sum_of_squares: sum x^2; else max
    Array second;     // [rows], sum: sum x^2; logsumexp: sum of p |x - max|, p = softmax(x); else 0
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
  // log; r roundings in a row are within a relative r u / (1 - r u), and without bound from r u = 1 on.  The worst case, but for
  // sums of independent errors:
  //
  //   sum             n additions: n u sum |x|; independent: a random walk, as in gemm_bound.hpp,
  //                                                                                 lambda sqrt(n) u (sqrt(sum x^2) + |y|)
  //   sum_of_squares  the square rounds too; one that underflows costs half the least subnormal:
  //                                                                                 (n + 1) u sum x^2 + cols floor
  //   max             is an element of x:                                           0
  //   logsumexp       s = sum exp(x - max) >= 1 is within a relative rho = 3u spread + f + n u + rescales (f + u) (as in
  //                   softmax.hpp: 1 for the difference, 2 for kernels that change the base), and by cols eta where terms
  //                   are subnormal, eta as there; log s then by rho / (1 - rho), by f |log s| of log itself and 2u |log s|
  //                   of a change of base; max + log s rounds, u |y|.
  // The output is f32: no other rounding, if that is the accumulator.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, int /*output*/, std::int64_t i) {
    const std::int64_t cols = a.x.shape[1];
    if (a.what == Reduction::max || cols == 0) return 0;
    const double u = unit_roundoff(numerics.accumulate), f = numerics.function_error * 0x1p-24;
    const double terms = static_cast<double>(cols), floor = rounding_floor(numerics.accumulate);
    const auto n = static_cast<double>(numerics.chain.roundings(cols));
    const auto row = static_cast<std::size_t>(i);
    const double y = g.y[row], magnitude = g.magnitude[row];
    if (a.what == Reduction::sum) {
      const double worst = compounded(n * u) * magnitude;
      if (errors == Errors::coherent) return worst;
      return std::min(worst, kLambda * std::sqrt(n) * u * (std::sqrt(g.second[row]) + std::fabs(y)));
    }
    if (a.what == Reduction::sum_of_squares) return compounded((n + 1) * u) * magnitude + terms * floor;

    const double rescales = numerics.rescales.lanes ? static_cast<double>(numerics.rescales.roundings(cols)) : 0;
    const double eta = numerics.flushes_subnormals ? floor / u : numerics.function_error * floor;
    const double rho = 3 * u * g.second[row] + f + n * u + rescales * (f + u) + terms * eta;
    const double log_sum = y - magnitude;
    return compounded(rho) + (f + 2 * u) * log_sum + u * std::fabs(y) + floor;
  }

  // x read, y written.  An addition or a comparison an element; two for squares; exp and a difference beside for logsumexp.
  // Unfused, squares or exps are written and read once more, and exp needs a pass for the maximum.
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
