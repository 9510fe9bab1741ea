// SPDX-License-Identifier: Apache-2.0
// What an op's formula (reference/OP.cpp) says of a case, as the judge asks for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/contract.hpp"

namespace assay {

// A mistake in a formula, with the file and line where it was made.
struct FormulaError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// The answers of one case.
class FormulaAnswers {
 public:
  virtual ~FormulaAnswers() = default;
  // Whether bounds() has a rule for every word of these numerics.
  virtual Legality has_rules(const Numerics& numerics) const = 0;
  // Of numerics for which there are rules: the same, but words that none reads have their default.  The bounds are the same.
  virtual Numerics words_read(const Numerics& numerics) const = 0;
  // Writes the bound of every element of the solved rows, of each output that is not empty.  They were asked for (Need).
  virtual void bounds(Errors errors, const Numerics& numerics, std::span<const std::span<double>> outputs) = 0;
};

// What is asked of a case: values alone, or the magnitudes too from which bounds are computed.
enum class Need { values, bounds };

// The row of the first output to which one of a later output belongs, where the op does not say: the same, and those beyond its
// last belong to that.
inline std::int64_t of_own_row(const Rows& rows, std::int64_t row) {
  return std::min(row, std::max<std::int64_t>(rows.total - 1, 0));
}

// Bytes that solving takes: what the problem keeps, and what is freed before it is solved.
struct SolveMemory {
  double kept = 0, passing = 0;
};

// Which intermediate roundings a second oracle applies (docs/numerics.md).
enum class Roundings {
  exact,      // none: f64 throughout
  declared,   // those of a kernel with the given numerics
  one_lower,  // every on-chip result in the next lower precision: a wrong answer that the bound must reject
};

// A result within a formula that kernels may store, by the name that declarations have for it (Numerics::stores).
struct FormulaStep {
  std::string name;
  bool is_summed = false;     // it is read by sums alone, perhaps as a factor of their terms
  bool has_own_sums = false;  // each of its elements is computed from a sum of products of its own
};

// Adds a step; of several with one name, what is so of all.
inline void add_step(std::vector<FormulaStep>& steps, const FormulaStep& step) {
  const auto same = std::ranges::find(steps, step.name, &FormulaStep::name);
  if (same == steps.end()) {
    steps.push_back(step);
    return;
  }
  same->is_summed = same->is_summed && step.is_summed;
  same->has_own_sums = same->has_own_sums && step.has_own_sums;
}

// What shapes and attributes alone decide.
struct FormulaFacts {
  Cost cost;
  // Names of the contract's axes: those that a sum or a softmax before the first output runs over, and those along which a
  // recurrence goes.
  std::vector<std::string> summed{}, recurrent{};
  std::string last_addend{};  // the input that is added last to each row of the first output; empty: none
  bool only_sums = false;     // nothing but sums, differences and products of inputs
  std::vector<FormulaStep> steps{};
  std::vector<std::string> ways{};  // names of what can be computed in two ways
};

// A formula enters itself here (reference/formula/linked_formula.hpp).  All null: the op has none, or the program lacks it.
template <class Op>
struct LinkedAnswers {
  using Args = typename Op::Args;
  // Computes the values of these rows and writes them, of the first outputs that are not empty.
  static inline std::unique_ptr<FormulaAnswers> (*make)(const Args&, const Rows&, std::span<const std::span<double>> outputs,
                                                        Need need) = nullptr;
  // What make() takes.
  static inline SolveMemory (*memory)(const Args&, const Rows&) = nullptr;
  static inline FormulaFacts (*facts)(const Args&) = nullptr;
  static inline Numerics (*words_read)(const Args&, const Numerics&) = nullptr;
  // Writes the outputs that are not empty, as arithmetic with these roundings gives them, before their own rounding.  Returns
  // whether what is computed on the way overflowed, though it is finite in exact arithmetic.
  static inline bool (*rounded)(const Args&, const Numerics&, Roundings, std::span<const std::span<double>> outputs) = nullptr;
  // Writes what the first output is without the last index of an axis, where it has such elements: its sums lack their last term.
  static inline void (*without_last)(const Args&, std::string_view axis, std::span<double> first) = nullptr;
};

}  // namespace assay
