// SPDX-License-Identifier: Apache-2.0
// How far a kernel of given numerics may be off, for every element of every node: the bound of the op, derived from its formula.
//
// A kernel's element is the value and an error of three parts:
//   any     at most this, of any correlation with other elements' errors: of functions, of constants, of sums already added up
//   fresh   at most this, and independent of other elements': an element's own rounding, with a deviation of fresh/k at most
//   shared  one error that many elements share, such as that of a mean which a row subtracts: |coefficient| (values.hpp) times
//           the error of the node that it comes from.  Sums add the coefficients with their signs, so they cancel as in truth
//           (as in affine arithmetic: Stolfi, Figueiredo 2003, "An introduction to affine arithmetic")
// A sum adds up `any`, but of `fresh` a random walk only: deviations(errors) sqrt(sum (fresh/k)^2), as gemm_bound.hpp derives
// for roundings.  An element that is broadcast repeats its error, so there `fresh` becomes shared.  With coherent errors
// everything is `any`.
//
// One operation on exact values is off by its one rounding, which is known: |rounded(v) - v|.
//
// The rules stand beside their code: arithmetic and functions in track.cpp, additions in any order in track_chains.cpp,
// conditions and maxima in track_choices.cpp, sums and products in track_sums.cpp, softmax and its kin in track_rows.cpp, means
// by the weights of a softmax in track_means.cpp, variances and other ways to a LayerNorm in track_norms.cpp, recurrences in
// track_scans.cpp; which words they read in words.cpp.
#pragma once

#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "ops/core/contract.hpp"
#include "reference/formula/values.hpp"
#include "reference/formula/words.hpp"

namespace assay::formula {

inline double finite_size(double v) { return std::isfinite(v) ? std::fabs(v) : 0.0; }

inline constexpr double kMostExponent = 700;  // exp of little more than this overflows
constexpr double kEitherZero = 0x1p-200;      // where either zero is right: an error below any number but 0

// A fresh error of one rounding is uniform at the most: its deviation is the largest error over sqrt(3).
inline constexpr double kUniform = std::numbers::sqrt3;

struct Off {
  Field any;
  Field fresh;
  double k = kUniform;  // fresh/k is at least the deviation of a fresh error
};

// What a kernel declares, with what the case says beside it.
struct Declared {
  Numerics numerics;
  Errors errors = Errors::independent;
  DType storage = DType::f32;  // of the tensors that share the case's dtype
};

class Tracked {
 public:
  // `values` must outlive this.  `given`: of a step of a scan, the errors of what it is given.
  Tracked(const Values& values, const Declared& declared, std::vector<Off> given = {});

  // The most by which a kernel's output may be off before it is rounded to the output's dtype, in the order of its tensor.
  std::vector<double> output(std::size_t number) const;
  // The whole error of a node, as what is computed from it sees it: infinite where an error may be an infinity or NaN.
  const Field& total(int node) const;
  // The same where it is put out: what overflows there does so in every kernel.
  const Field& total_put_out(int node) const;
  // Of a step of a scan: whether some result may leave the accumulator's range.
  bool overflows() const { return !put_out_.empty() || !put_out_of_scans_.empty(); }
  // A node's error where shared errors cannot be followed: they count as `any`.
  Off alone(int node) const;

 private:
  // A result beyond the accumulator's range is infinite in a kernel, so what is computed from it has no bound.
  void note_overflow(int node);
  // What an argument brings into a node with these axes.
  struct Brought {
    const Field* any = &kNone;
    const Field* fresh = &kNone;
    const Field* total = &kNone;
    double k = kUniform;
  };
  static const Field kNone;
  Brought brought(int argument, AxisSet axes) const;
  // The dtype to which a kernel may round a step's result.
  std::optional<DType> stored_as(std::string_view step) const;
  // The same, unless it is rounded to it already.
  std::optional<DType> stores(const Node& step) const;
  // Of a node's whole error, what is infinite.
  const Field& infinite_in(int node) const;
  // The error that elements share through a symbol.
  const Field& of(Symbol symbol) const;
  Field shared(int node) const;

  // One more rounding of a node whose error is `off`, to the accumulator's format or to that in which it is stored.
  Off rounded(int node, Off off) const;
  Off scaled_down(int node, Off off) const;  // by a power of two: only what is subnormal is rounded
  Off with_either_zero(int node, Off off) const;
  Off stored(int node, Off off, DType to) const;
  bool adds_up_rounded_products(int node) const;
  template <class Extra>
  Off widened(int node, Off off, const Field& size, Extra&& extra) const;

  // Of a chain of additions and subtractions.
  struct Term {
    int node;
    double sign;
    int sum;  // the sum or product that it is, which may begin with the other terms; -1: none
  };
  void find_chains();
  bool adds(int node) const;
  int added_up(int argument) const;
  Field unit_of(const std::vector<Term>& terms) const;
  Field largest_sum(const std::vector<Term>& terms) const;
  Field begun_with(int sum, const Field& rest, const Field& result) const;
  void collect_terms(int node, double sign, std::vector<Term>& terms) const;
  Off added_up_in_any_order(int node, Off off) const;

  Off visit(int node);
  Off visit_arithmetic(int node);
  Off divide(int node);
  bool is_running_moment(int node) const;
  Off running_moment(int node) const;  // of a mean or a variance
  Field folding(int node) const;       // what a folded affine costs more
  // The most by which a node may be below its value, at most total(): less for a sum of squares and what is made of one.
  Field too_small(int node) const;
  Off choose(int node) const;
  Off decide(int node) const;
  Off pick_one(int node) const;  // where
  Off either(int node) const;
  Off take(int node) const;
  std::vector<Off> scanned(int node);  // of a scan's results
  Off apply_function(int node) const;
  Off add_up(int node) const;
  Off multiply_up(int node) const;
  Off mean_up(int node) const;  // a dot with a softmax
  bool weighs_means_alone(int softmax) const;
  bool is_of_mean(int row_function) const;
  Field off_in_logarithm(int softmax) const;
  // Whether by one FMA the exponent of a row's largest, which is 0 but for an error of u |top|, may be one of an infinite exp.
  bool overflows_where_largest(double top) const {
    return std::isfinite(top) && u_ * std::fabs(top) >= std::log(overflow_threshold(declared_.numerics.accumulate));
  }
  Off along_rows(int node) const;
  double roundings(double count) const;  // of the longest chain of a sum of `count` terms
  double grown(double count) const;      // the relative error of such a sum of terms of one sign
  double additions(double count) const;
  // How often an online sum is rescaled.
  Field rescales(const RowParts& rows, bool in_random_order) const;
  Off weigh(int node) const;       // softmax
  Off log_of_sum(int node) const;  // logsumexp, log_softmax

  bool coherent() const { return declared_.errors == Errors::coherent; }
  // How many deviations of a fresh error count.  `typical` counts each rounding with its largest size, and so a sum of them with
  // the largest size of a uniform error that has the sum's deviation.
  double deviations_counted() const { return declared_.errors == Errors::typical ? kUniform : deviations(declared_.errors); }
  const Node& node(int i) const { return values_.graph().nodes[static_cast<std::size_t>(i)]; }
  const Extents& extents() const { return values_.extents(); }

  const Values& values_;
  Declared declared_;
  double u_ = 0, floor_ = 0;  // of the accumulator: unit roundoff, half the least subnormal
  double function_ = 0;       // the relative error of exp and the like
  std::vector<Off> given_;
  std::vector<int> reads_;      // by node: how many read it; an output counts as several
  std::vector<bool> in_chain_;  // by node: counted at the end of the chain of additions to which it belongs
  std::vector<Off> off_;
  std::map<int, std::vector<Off>> results_;             // of scans
  mutable std::vector<std::optional<Field>> totals_;    // those that were asked for
  mutable std::map<int, Field> infinite_;               // what infinite_in() found
  std::map<int, Field> put_out_;                        // of nodes with an overflow, the errors without it
  std::map<int, std::vector<Field>> put_out_of_scans_;  // of results of scans in which there was one
  std::map<int, Field> reciprocals_;                    // the error of 1/x of a divisor
};

}  // namespace assay::formula
