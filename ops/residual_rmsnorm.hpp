// SPDX-License-Identifier: Apache-2.0
// Residual + RMSNorm:  s = x + residual,  y[r,c] = s[r,c] / sqrt(mean_c(s[r,c]^2) + epsilon) * gamma[c]
//
// s is rounded once to the dtype.  y is the RMSNorm (arXiv 1910.07467)
//   sum=rounded  of this rounded s, as in frameworks, where the sum is a tensor, and in Liger;
//   sum=f32      of the sum that a kernel keeps in f32, as in FlashInfer, flash-attention and fla: exact, infinite beyond f32.
// In f32 both agree up to the rounding of s; in 16 bits they are two functions.  A NaN in what is normalised makes its row of y
// NaN, and no other; an inf turns its own element into NaN (inf/inf) and the row's others into 0.  A row of zeros (x = -residual)
// gives zeros; with epsilon = 0 NaN.  No rows give empty outputs; cols = 0 is illegal.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

enum class NormedSum : std::uint8_t { rounded, in_f32 };

struct residual_rmsnorm {
  struct Args {
    Tensor x;         // [rows, cols]
    Tensor residual;  // [rows, cols]
    Tensor gamma;     // [cols]
    Tensor y;         // [rows, cols], written
    Tensor s;         // [rows, cols], written
    double epsilon = 1e-5;
    NormedSum sum = NormedSum::rounded;
  };

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.input("residual", a.residual, {Axis::rows, Axis::cols});
    v.weight("gamma", a.gamma, {Axis::cols});
    v.output("y", a.y, {Axis::rows, Axis::cols});
    v.output("s", a.s, {Axis::rows, Axis::cols});
    v.attribute("epsilon", a.epsilon, 1e-5);
    v.choice("sum", a.sum, {"rounded", "f32"});
  }

  static Legality legal(const Args& a) {
    if (!(a.epsilon >= 0) || !std::isfinite(a.epsilon)) return Legality::no("epsilon must be finite and not negative");
    return Legality::yes();
  }

  // KernelTraits::supports of kernels that normalise what they store.
  static Legality rounded_alone(const Args& a) {
    return a.sum == NormedSum::rounded ? Legality::yes() : Legality::no("only sum=rounded");
  }

  // Reads x, residual and gamma, writes s and y.  Per element: 1 add for s; multiply and add for the mean square, 2 multiplies
  // for y.  Unfused, s is also read.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.x.bytes()), vector = static_cast<double>(a.gamma.bytes());
    return {.flops = 5.0 * static_cast<double>(a.x.size()),
            .bytes_read = 2 * matrix + vector,
            .bytes_written = 2 * matrix,
            .unfused_bytes = 5 * matrix + vector};
  }
};

}  // namespace assay
