// SPDX-License-Identifier: Apache-2.0
// L2 normalisation:  y[r,c] = x[r,c] / sqrt(sum_c(x[r,c]^2) + epsilon)
//
// The queries and keys of linear attention are normalised so (Yang et al. 2024, Gated DeltaNet, arXiv 2412.06464).  A NaN in x
// makes its own row NaN, and no other; an inf turns its own element into NaN (inf/inf) and the row's others into 0.  A row of
// zeros gives zeros; with epsilon = 0 NaN.  No rows or no columns give an empty y.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct l2norm {
  struct Args {
    Tensor x;  // [rows, cols]
    Tensor y;  // [rows, cols], written
    double epsilon = 1e-6;
  };

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 0}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.output("y", a.y, {Axis::rows, Axis::cols});
    v.attribute("epsilon", a.epsilon, 1e-6);
  }

  static Legality legal(const Args& a) {
    if (!(a.epsilon >= 0) || !std::isfinite(a.epsilon)) return Legality::no("epsilon must be finite and not negative");
    return Legality::yes();
  }
};

}  // namespace assay
