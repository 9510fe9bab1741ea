// SPDX-License-Identifier: Apache-2.0
// Got against golden, element by element: `!(|got - golden| <= T_i)` fails, so NaN fails; no element is exempt.
#pragma once

#include <cstdint>
#include <functional>

#include "validate/problem/op.hpp"

namespace assay {

struct Comparison {
  std::int64_t compared = 0;
  std::int64_t wrong = 0;
  double error = 0;                       // max of |got - golden| where both are finite
  double margin = 0;                      // max of |got - golden| / T; infinite for a wrong class, or any difference where T is 0
  std::int64_t worst = -1;                // row-major index
  double got = 0, golden = 0, bound = 0;  // there
  bool powerless = true;                  // an output of zeros would pass as well
  bool zeros = true;                      // every golden, rounded to the dtype, is a zero
};

// Judges output number `output` of a solved problem: the elements of its solved rows.  `got` has the tensor's dtype and strides
// and holds the candidate's values.  With `exact`, every finite element must equal the golden rounded to the dtype.
Comparison compare(const Problem& problem, const Numerics& numerics, int output, const Tensor& got, bool exact);

// Calls `visit` for every judged element, in order.
struct Element {
  std::int64_t i;  // row-major index
  double got, golden, bound;
  bool wrong;
};
void each_judged(const Problem& problem, const Numerics& numerics, int output, const Tensor& got, bool exact,
                 const std::function<void(const Element&)>& visit);

}  // namespace assay
