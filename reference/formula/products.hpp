// SPDX-License-Identifier: Apache-2.0
// Matrix products in formulas.
#pragma once

#include "reference/formula/formula.hpp"

namespace assay::formula {

// x times the transpose of a weight, summed along an axis of both, and a bias if there is one: then kernels of these numerics may
// store the product before.
inline Array product(Formula& f, Axis along, const Array& x, std::string_view weight, std::string_view bias, bool has_bias,
                     Stored stored = Stored::with_every_step) {
  const Array sums = sum(along)(x * f.in(weight));
  return has_bias ? step("product", sums, stored) + f.in(bias) : sums;
}

}  // namespace assay::formula
