// SPDX-License-Identifier: Apache-2.0
// Compares an output with the golden.  An element fails if it has the wrong class (finite, +inf, -inf, NaN), or if
// !(|got - golden| <= bound), so with a NaN bound too; no element is exempt.
#pragma once

#include <cstdint>
#include <functional>

#include "validate/problem/op.hpp"

namespace assay {

struct Comparison {
  std::int64_t compared = 0;
  std::int64_t wrong = 0;
  std::int64_t loose = 0;                 // whose golden, rounded to the dtype, is no zero, though a zero would pass
  double error = 0;                       // max of |got - golden| where both are finite
  double margin = 0;                      // max err/bound; infinite for a wrong class, or any difference if the bound is 0
  std::int64_t worst = -1;                // row-major index of the element with that margin; -1: nothing was compared
  double got = 0, golden = 0, bound = 0;  // of that element
  bool powerless = true;                  // an output of zeros would pass too
  bool finite = false;                    // some golden is a finite number
  bool zeros = true;                      // every golden, rounded to the dtype, is a zero
  bool zeros_or_unbounded = true;         // every golden is, or its bound is infinite
};

// Judges the solved rows of output number `output`.  `got` has the tensor's dtype and strides and the candidate's values.  With
// `exact`, every element must equal the golden rounded to the dtype.
Comparison compare(const Problem& problem, const Numerics& numerics, int output, const Tensor& got, bool exact);

// Calls `visit` for every element of the solved rows, in order.
struct Element {
  std::int64_t i;  // row-major index
  double got, golden, bound;
  bool wrong;
};
void each_judged(const Problem& problem, const Numerics& numerics, int output, const Tensor& got, bool exact,
                 const std::function<void(const Element&)>& visit);

}  // namespace assay
