// SPDX-License-Identifier: Apache-2.0
// Aggregate checks of an output: all its errors together.  A result that is truncated instead of rounded, or off by a factor of
// 1.0005, can be within the bound everywhere, but its errors all have one sign.
//
// Symbols: e an element's error, g its golden, T its bound (compare() has found |e| <= T), z = e/T, s either 1 or the sign of g,
// u_o the output's unit roundoff, L = u_o |g| + floor the part of T that pays for the last rounding, to the output's dtype.
// An error is the sum of three parts.  If the fill's rows are independent draws, the first two are symmetric about zero:
//   the last rounding   It is uniform within h, half the spacing of the output's dtype at g: variance h^2/3.
//   stored roundings    Those of stored intermediates, together at most R = T - L - A: variance at most R^2/3.
//   one-signed errors   All that may have the same sign in every element, together at most A = T' - L, where T' is the bound of a
//       kernel that stores no intermediate.  That is what the accumulator's precision costs: constants and functions that are
//       off by the same for every element, truncating tensor cores.  An op without constants and functions (ByFormula::only_sums)
//       has A = 0 unless it uses tensor cores.
//       R belongs to A where stored intermediates may take few values: the same rounding error then repeats, so the mean of all
//       need not be zero.  exp(x - max) and x + r of 16-bit numbers take few values.  So does a stored value plus a bias: a bias
//       below half the spacing is lost in every row alike.  So does a norm: a channel that outweighs its row becomes
//       +-sqrt(channels), times its gamma, in every such row.  A step that is only summed (FormulaStep::is_summed) is another
//       matter.  If each of its elements has a sum of products of its own, as p of attention has, its roundings are draws, and
//       belong to R.  If not, as with a rotated key, or gamma times a weight, rows share its roundings, and T' keeps them.
//       So do narrowed factors (Factors): the same weights round to the same numbers for every row.
//       So do sums of t terms, where t is small: rows share one factor of each product, and the other has 2^(p-1) significands in
//       the inputs' dtype, of p bits.  So a sum has some 2^(t(p-1)) of them, whose mean error is 2^(-t(p-1)/2) of its deviation.
//       With more rows than that, the mean of all rows is no smaller.
//       A also has u_o h.  If the density of values falls as |v|^-k, more of the values that round to one number lie below it,
//       and the mean of their errors is k h^2/(3|v|) <= u_o h for k <= 3.
//
// bias   Rows are independent, but elements of a row may share a norm, a sum or a row of weights.  So each row r is one sample,
//        M_r, the sum of s z over its elements.  M_r = a_r + x_r: a_r is of one-signed errors, so |a_r| <= sum A/T over the row,
//        and x_r, the rest, is symmetric.  Over all rows
//          |sum M_r| <= sum a_r + lambda sqrt(sum x_r^2),   sqrt(sum x_r^2) <= sqrt(sum M_r^2) + sqrt(sum a_r^2)
//        except with a probability below 2 exp(-lambda^2/2) = 3e-8 (Hoeffding on the signs of x_r given their sizes; Efron 1969).
//        Fewer rows than lambda^2 cannot reject.  Two known sums are added to the limit:
//        |Z|  The sum of s z for the answer that is the golden, rounded once.  A correct kernel makes these errors too.  The sum
//             is large where answers repeat: two columns of a norm are +-gamma + beta in every row.
//        |C|  The sum of s z for the error of a parameter that is added last (ByFormula::last_addend), if the sum before it is no
//             more precise than the output.  If that sum is also no smaller than the output, it is a multiple of the output's
//             spacing.  Then the parameter is rounded to such a multiple, with the same error in every row.
// rms    T'' is T', the bound without stored intermediates, but with Errors::typical: a random walk counts with sqrt(3)
//        deviations where T' counts lambda, and functions and constants count in full.  So E z^2 <= v, by Minkowski
//          v = ((sqrt((h^2 + R^2)/3) + T'' - L + u_o h)/T)^2
//        T'' counts a rounding of the chain with its largest size u, not with u/sqrt(3), the deviation of a uniform one, so the
//        chain's part of v is up to three times too large.  R is what stored intermediates add to the bound, or to the bound with
//        Errors::typical, whichever is less.  Where roundings repeat, what they add to the bound adds to T'' - L in full; so does
//        all of T' where factors are narrowed.
//        z^2 <= 1, so row r with n_r elements adds m_r <= n_r, its variance is at most n_r E m_r, and with V_r = rho sum v
//          sum z^2 <= sum V_r + M L/3 + sqrt((M L/3)^2 + 2 L sum n_r V_r),   M = max n_r, L = lambda^2/2   (Bernstein)
//          sum z^2 <= sum V_r + sqrt(L/2 sum n_r^2)                                                        (Hoeffding)
//        except with a probability below exp(-L) = 2e-8 for each.  The smaller one is the limit.
//        rho is the mean square of the golden's own last rounding divided by h^2/3, at least 1.  It is well above 1 only where
//        answers repeat.
// The bias is checked for the first output only, the rms for every output.  Messages give both in units of the rms z that the
// numerics predict.  That is the rms z of the oracle's answer with the kernel's declared roundings, or sqrt(mean v) if there is
// no oracle or it would take too long.
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
  double rms = 0, bias = 0;   // of z; the bias is that with the s, 1 or sign of g, that uses more of its limit
  double rms_limit = 0, bias_limit = 0;
  double predicted_rms = 0;   // by the bound: sqrt(mean v)
  bool towards_zero = false;  // that s is the sign of g: a bias below 0 is towards zero
  bool rms_within() const { return !(rms > rms_limit); }
  bool within() const { return rms_within() && !(bias > bias_limit) && !(bias < -bias_limit); }
};

// The aggregate of an output of a solved problem; the bias is that of the first only.  Every element must be within its bound.
// `terms`: t, the fewest that a sum has, or kManyTerms.
inline constexpr std::int64_t kManyTerms = 64;
Aggregate aggregate(const Problem&, const ByFormula&, const Numerics&, const Tensor& got, int output = 0,
                    std::int64_t terms = kManyTerms);

// Whether an oracle gives the same answer for both: they declare the same roundings.
bool same_roundings(const Numerics& a, const Numerics& b);

// The rms z of the oracle's answer with a kernel's declared roundings.  Kernels that declare the same share an answer.
// Thread-safe.
class Predictions {
 public:
  // 0 if there is no oracle, rows are sampled, or the problem is too large for the oracle.
  double rms(const Op&, const Problem&, const Numerics&, const Tensor& like);

 private:
  std::mutex mutex_;
  std::deque<std::pair<Numerics, std::vector<double>>> oracles_;  // rounded answers, by declared numerics
};

// One sentence that says what is wrong; empty if nothing is.  `predicted`: the rms z that is the unit.
std::string aggregate_fault(const Aggregate&, double predicted);

}  // namespace assay
