// SPDX-License-Identifier: Apache-2.0
// Aggregate checks of an output: all its errors together.  A result that is truncated instead of rounded, or off by a factor of
// 1.0005, can be within the bound everywhere, but its errors all have one sign.
//
// Symbols: e an element's error, g its golden, T its bound (compare() has found |e| <= T), z = e/T, s either 1 or the sign of g.
// An error has these parts.  If the fill's rows are independent draws, all but A are symmetric about zero:
//   h   Half the spacing of the output's dtype at g.  The last rounding is uniform within h: variance h^2/3.
//   R   The most that roundings of stored intermediates can make together: R = T - last rounding - A, variance at most R^2/3.
//   A   The most that errors of one sign can make: T' - last rounding, where T' is the bound of a kernel that stores no
//       intermediate.  It covers what the accumulator's precision costs: constants and functions that are off by the same for
//       every element, truncating tensor cores.  An op without constants and functions (Hooks::only_sums) has A = 0 unless it
//       uses tensor cores.  R belongs to A where stored intermediates take few values (Hooks::repeated_roundings): the same rounding
//       error repeats, so the mean of all need not be zero.  exp(x - max) and x + r of 16-bit numbers take few values.  So does
//       a stored value plus a bias: a bias below half the spacing is lost in every row alike.  So does a norm: a channel that
//       outweighs its row becomes +-sqrt(channels), times its gamma, in every such row.
//       A also has u_o h, where u_o is the output's unit roundoff.  If the density of values falls as |v|^-k, more of the values
//       that round to one number lie below it, and the mean of their errors is k h^2/(3|v|) <= u_o h for k <= 3.
//
// bias   Rows are independent, but elements of a row may share a norm, a sum or a row of weights.  So each row counts once, by
//        M_r, its sum of s z.  With M_r = a_r + x_r, |a_r| <= sum A/T and x_r symmetric,
//          |sum M_r| <= sum a_r + lambda sqrt(sum x_r^2),   sqrt(sum x_r^2) <= sqrt(sum M_r^2) + sqrt(sum a_r^2)
//        except with a probability below 2 exp(-lambda^2/2) = 3e-8 (Hoeffding on the signs of x_r given their sizes; Efron 1969).
//        Fewer rows than lambda^2 cannot reject.  The limit grows by two sums that are known:
//        |Z|, the same sum over the golden's own last rounding, which a kernel that rounds once has too.  It is large where
//        answers repeat: two columns of a norm are +-gamma + beta in every row.
//        |C|, the same sum over what a parameter loses that is added last (Hooks::last_addend) to a sum as precise as the output.
//        If that sum is no smaller than the output, it is a multiple of the output's spacing, so the parameter is rounded to
//        one too, alike in every row.
// rms    E z^2 <= v = ((sqrt((h^2 + R^2)/3) + A)/T)^2 by Minkowski, and z^2 <= 1, so row r with n_r elements adds at most n_r:
//          sum z^2 <= rho sum v + lambda/2 sqrt(sum n_r^2)   (Hoeffding)
//        rho >= 1 is the mean square of the golden's own last rounding over h^2/3; it is more than 1 only where answers repeat.
// Both are reported in units of the rms z that the numerics predict: that of the oracle's answer to the same case with the
// kernel's declared roundings, or sqrt(mean v) if there is no oracle or it would take too long.
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
  std::int64_t elements = 0;  // that were used: finite, and away from overflow
  double rms = 0, bias = 0;   // of z; the bias with that s for which it is the larger share of its limit
  double rms_limit = 0, bias_limit = 0;
  double predicted_rms = 0;   // by the bound: sqrt(mean v)
  bool towards_zero = false;  // s is the sign of the golden
  bool within() const { return !(rms > rms_limit) && !(bias > bias_limit) && !(bias < -bias_limit); }
};

// The aggregate of the first output of a solved problem.  Every element must be within its bound.
Aggregate aggregate(const Problem&, const Hooks&, const Numerics&, const Tensor& got);

// Whether an oracle gives the same answer for both.
bool same_roundings(const Numerics& a, const Numerics& b);

// The rms z of the oracle's answer with a kernel's declared roundings.  Kernels that declare the same share an answer.
// Thread-safe.
class Predictions {
 public:
  // 0 if there is no oracle, rows are sampled, or the problem is too large for the oracle.
  double rms(const Op&, const Problem&, const Numerics&, const Tensor& like);

 private:
  std::mutex mutex_;
  std::deque<std::pair<Numerics, std::vector<double>>> oracles_;  // by declared roundings: the answers, rounded
};

// One sentence that says what is wrong; empty if nothing is.  `predicted`: the rms z that is the unit.
std::string aggregate_fault(const Aggregate&, double predicted);

}  // namespace assay
