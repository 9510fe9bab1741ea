// SPDX-License-Identifier: Apache-2.0
// Aggregates over an output: the errors together may say what none of them says alone.  A result truncated instead of
// rounded, or a factor of 1.0005, can stay within the bound everywhere; its errors all have one sign.
//
// e: an element's error, g: its golden, T: its bound (compare() has found |e| <= T), z = e/T, s: 1, or the sign of g.
// What an error is made of, all but A known to be symmetric about zero where the fill's rows are independent draws:
//   h   half the spacing of the output's dtype at g: the last rounding, uniform within h, variance h^2/3
//   R   roundings to the storage dtype on the way, R at most together: variance R^2/3 at most.  R = T - last rounding - A
//   A   whatever may have a sign, at its worst: T' - last rounding, T' the bound of a kernel that stores nothing on the way.
//       That is all that the accumulator's precision costs: constants and functions that are off by the same for every
//       element, truncating tensor cores.  An op without constants and functions (Hooks::only_sums) has none of it without
//       tensor cores.  R too belongs here where what is stored on the way depends on a few inputs (Hooks::step_of_few):
//       exp(x - max) or x + r of 16-bit numbers takes few values, one rounding comes again and again, and the mean of them
//       all need not be zero.  So it is where a bias is added to what was stored: the sum of two 16-bit numbers takes few
//       values, and a bias below half the spacing is lost in every row alike.  So it is of a norm: a channel that outweighs
//       its row is +-sqrt(channels) (times its gamma) after it, in every such row.
//       Beside it u_o h: where values get rarer as |v|^-k, more of those that round to one lie below it, and the mean of
//       their rounding errors is k h^2/(3|v|) <= u_o h for k <= 3.
//
// bias   Rows are independent, elements of one row need not be (they share a norm, a sum, a row of weights): row r counts
//        once, M_r = sum s z over it.  With M_r = a_r + x_r, |a_r| <= sum A/T and x_r symmetric,
//          |sum M_r| <= sum a_r + lambda sqrt(sum x_r^2),   sqrt(sum x_r^2) <= sqrt(sum M_r^2) + sqrt(sum a_r^2)
//        and |Z| more, Z the same sum over the golden's own last rounding: it is known, and where answers repeat (two columns
//        of a norm are +-gamma + beta in every row) it is no small one, and a kernel that rounds once has it too.
//        And |C| more, C the same sum over what a parameter loses that is added last (Hooks::added_last) to a sum as precise
//        as the output: where that sum is no smaller than the output it is a multiple of the output's spacing, and the
//        parameter is rounded to it, alike in every row.
//        This fails with a probability below 2 exp(-lambda^2/2) = 3e-8 (Hoeffding on the signs of x_r given their sizes; Efron
//        1969).  Fewer rows than lambda^2 cannot reject, and do not.
// rms    E z^2 <= v = ((sqrt((h^2 + R^2)/3) + A)/T)^2 by Minkowski, and n_r elements of z^2 <= 1 are at most n_r:
//          sum z^2 <= rho sum v + lambda/2 sqrt(sum n_r^2)   (Hoeffding)
//        rho: how many times h^2/3 the squares of the golden's own last rounding are, 1 at least; only where answers repeat more.
// Both are reported in units of the rms z that the numerics predict: what the rounding-policy oracle makes of the same case
// with the kernel's declared roundings, or where it would take too long, sqrt(mean v).
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "validate/problem/op.hpp"

namespace assay {

struct Aggregate {
  std::int64_t elements = 0;  // that were taken: finite, and away from overflow
  double rms = 0, bias = 0;   // of z; the bias of s z with the s that is further beyond its limit
  double rms_limit = 0, bias_limit = 0;
  double predicted_rms = 0;   // by the bound: sqrt(mean v)
  bool towards_zero = false;  // s is the sign of the golden
  bool within() const { return !(rms > rms_limit) && !(bias > bias_limit) && !(bias < -bias_limit); }
};

// Of the first output of a solved problem, whose elements all are within the bound.
Aggregate aggregate(const Problem&, const Hooks&, const Numerics&, const Tensor& got);

// Whether an oracle answers alike for both.
bool same_roundings(const Numerics& a, const Numerics& b);

// The rms z of the oracle's answers with a kernel's declared roundings, made once for all kernels that declare the same.
// Threads may ask at the same time.
class Predictions {
 public:
  // 0 where there is no oracle, or too much for it to compute.
  double rms(const Op&, const Problem&, const Numerics&, const Tensor& like);

 private:
  std::mutex mutex_;
  std::deque<std::pair<Numerics, std::vector<double>>> oracles_;  // by declared roundings: the answers, rounded
};

// What is wrong, as a sentence; empty: nothing.  `predicted`: the unit.
std::string aggregate_fault(const Aggregate&, double predicted);

}  // namespace assay
