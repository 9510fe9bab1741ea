// SPDX-License-Identifier: Apache-2.0
// Reduces each row of x to one value, in f32 whatever the dtype of x:
//   sum             y[r] = sum_c x[r,c]              max         y[r] = max_c x[r,c]
//   sum_of_squares  y[r] = sum_c x[r,c]^2            logsumexp   y[r] = log sum_c exp(x[r,c])
//
// y is [rows].  To reduce a whole contiguous tensor, take it as one row (rows=1), which may have more than 2^31 elements.  A NaN
// gives NaN.  inf - inf in a sum is NaN; logsumexp is inf if an element is inf, and -inf if all are -inf.  With cols = 0 y is the
// neutral element: 0 for sum and sum_of_squares, -inf for max and logsumexp.  No rows give an empty y.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

enum class Reduction : std::uint8_t { sum, max, logsumexp, sum_of_squares };

struct row_reduce {
  struct Args {
    Tensor x;  // [rows, cols]
    Tensor y;  // [rows], f32, written
    Reduction what = Reduction::sum;
  };

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 0}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.output("y", a.y, {Axis::rows}, {.dtype = f32});
    v.choice("what", a.what, {"sum", "max", "logsumexp", "sum_of_squares"});
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
