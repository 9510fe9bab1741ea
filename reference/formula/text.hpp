// SPDX-License-Identifier: Apache-2.0
// A formula as text, in lines of one assignment each, with the words of formula.hpp:
//
//   mean_square = mean[cols](square(x)) + epsilon
//   y = step[xhat](x * rsqrt(mean_square)) * gamma
//
// A recurrence goes along an axis, and has states, each with its first value; a line in braces gives each its next one:
//
//   last, y = scan[steps](last = first) { last = gate * last + x; y = last }
//
// Before the equals sign stand states, which are then those after the last step, and what steps put out.
//
// What stands in brackets is a name: the axes of a reduction, the axis of `index[rows]`, `extent[cols]`, `take[vocab](table,
// ids)` and `put`, the name of a `step` or of a way of `either`, the dtype of `rounded_to`.  Attributes and extents are numbers,
// and numbers are computed as they are read: `where(form == tanh, gelu_tanh(x), gelu_erf(x))` of a choice `form` is one of both.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/formula/formula.hpp"

namespace assay::formula {

// An attribute of the case.  A choice has words, for the values 0, 1, ...
struct TextAttribute {
  std::string_view name;
  double value = 0;
  std::span<const std::string_view> words{};
};

// The names that a formula may use.
struct TextNames {
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<std::string_view> words;  // of all choices
};

struct TextExpression {
  enum class What { number, name, call };
  What what = What::number;
  std::string word{};  // a name, a function, or an operator
  double number = 0;
  std::vector<std::string> marks{};  // in brackets
  std::vector<TextExpression> arguments{};
};

struct TextLine {
  std::string text;
  std::vector<std::string> names;  // that it assigns
  TextExpression value{};          // of a scan, which assigns several: its axis, and the first values of its states
  std::vector<std::string> states{};
  std::vector<TextLine> steps{};
};

class TextFormula {
 public:
  // Throws FormulaError, with the number of the line, if a line is no assignment, uses a name before it has a value, gives a
  // name a second value, or gives one that nothing uses; or if none uses an input.
  TextFormula(std::span<const std::string> lines, const TextNames& names);
  // Records the formula, whose tensors are declared.  Throws FormulaError with the number of the line.
  void record(Formula& f, std::span<const TextAttribute> attributes) const;
  bool uses(std::string_view name) const { return used_.contains(name); }

 private:
  std::vector<TextLine> lines_;
  std::set<std::string, std::less<>> outputs_;
  std::set<std::string, std::less<>> used_;
};

// A condition on attributes and extents, like "quotient(extent[heads], extent[kv_heads]) * extent[kv_heads] == extent[heads]".
class TextCondition {
 public:
  TextCondition(std::string text, const TextNames& names);  // throws FormulaError
  const std::string& text() const { return text_; }
  bool uses(std::string_view name) const { return used_.contains(name); }
  // Throws FormulaError if it is no condition on numbers.
  bool holds(Formula& f, std::span<const TextAttribute> attributes) const;

 private:
  std::string text_;
  TextExpression value_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace assay::formula
