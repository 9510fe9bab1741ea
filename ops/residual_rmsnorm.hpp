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

#include "ops/core/norm_bound.hpp"

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
  struct Golden {
    Array y;       // [rows, cols]
    Array s;       // [rows, cols], as stored
    Array square;  // [rows], mean of the squares of normed()
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
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    v.array("y", g.y, {Axis::rows, Axis::cols});
    v.array("s", g.s, {Axis::rows, Axis::cols});
    v.array("square", g.square, {Axis::rows});
  }

  static Legality legal(const Args& a) {
    if (!(a.epsilon >= 0) || !std::isfinite(a.epsilon)) return Legality::no("epsilon must be finite and not negative");
    return Legality::yes();
  }

  // KernelTraits::supports of kernels that normalise what they store.
  static Legality rounded_alone(const Args& a) {
    return a.sum == NormedSum::rounded ? Legality::yes() : Legality::no("only sum=rounded");
  }

  // What is normalised of a sum in f64.
  static double normed(const Args& a, double sum) {
    if (a.sum == NormedSum::rounded) return round_to(a.s.dtype, sum);
    const double in_f32 = round_to(f32, sum);
    return std::isinf(in_f32) ? in_f32 : sum;
  }

  // s: must match exactly.  Rounding the sum to f32 and then to 16 bits gives the same value as rounding once, since
  // 24 >= 2 p + 2 for p = 11 and 8 (Figueroa 1995).
  // y: xhat as in norm_bound.hpp, worst case, with sum=f32 of a sum that is rounded once, to the accumulator; one rounding to the
  // dtype if xhat is stored; gamma: u |y|; the output's rounding.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, int output, std::int64_t i) {
    if (output == 1) return 0;
    const std::int64_t cols = a.x.shape[1], row = i / cols;
    const bool unrounded = a.sum == NormedSum::in_f32;
    const double x = unrounded ? normed(a, a.x.at(i) + a.residual.at(i)) : g.s[i], square = g.square[row];
    const double error = rmsnorm_error(numerics, errors, cols, x, square, a.epsilon, unrounded ? 1 : 0);
    return scaled_error(numerics, a.y.dtype, error, a.gamma.at(i % cols), x / std::sqrt(square + a.epsilon));
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
