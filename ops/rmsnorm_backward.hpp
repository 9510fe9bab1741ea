// SPDX-License-Identifier: Apache-2.0
// Gradients of RMSNorm:  with r[i] = 1 / sqrt(mean_c(x[i,c]^2) + epsilon), xhat = x r and d = dy gamma
//   dx[i,c] = r[i] (d[i,c] - xhat[i,c] mean_c(d[i,c] xhat[i,c]))        dgamma[c] = sum_i dy[i,c] xhat[i,c]
//
// Zhang, Sennrich 2019, arXiv 1910.07467, section 4.2.  A NaN or inf in x or dy makes its own row of dx NaN where it reaches the
// mean, and its column of dgamma.  rows = 0 and cols = 0 are illegal: dgamma would be
// zeros, which proves nothing, and there would be no mean.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct rmsnorm_backward {
  struct Args {
    Tensor dy;      // [rows, cols]
    Tensor x;       // [rows, cols]
    Tensor gamma;   // [cols]
    Tensor dx;      // [rows, cols], written
    Tensor dgamma;  // [cols], written
    double epsilon = 1e-5;
  };

  static constexpr AxisUse axes[] = {{Axis::rows}, {Axis::cols}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("dy", a.dy, {Axis::rows, Axis::cols});
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.weight("gamma", a.gamma, {Axis::cols});
    v.output("dx", a.dx, {Axis::rows, Axis::cols});
    v.output("dgamma", a.dgamma, {Axis::cols});
    v.attribute("epsilon", a.epsilon, 1e-5);
  }

  static Legality legal(const Args& a) {
    if (!(a.epsilon >= 0) || !std::isfinite(a.epsilon)) return Legality::no("epsilon must be finite and not negative");
    return Legality::yes();
  }
};

}  // namespace assay
