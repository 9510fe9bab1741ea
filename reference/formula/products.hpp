// SPDX-License-Identifier: Apache-2.0
// Matrix products in formulas.
#pragma once

#include <string>

#include "reference/formula/formula.hpp"

namespace assay::formula {

// x times the transpose of a weight, summed along an axis of both, and a bias if there is one: the step before it has the name of
// the bias, as "before_bias".
inline Array product(Formula& f, Axis along, const Array& x, std::string_view weight, std::string_view bias, bool has_bias) {
  const Array sums = sum(along)(x * f.in(weight));
  return has_bias ? step("before_" + std::string(bias), sums) + f.in(bias) : sums;
}

}  // namespace assay::formula
