// SPDX-License-Identifier: Apache-2.0
// Expressions of a launch file: numbers, axes and attributes of the op, stride(TENSOR, I), aligned(TENSOR, BYTES), + - * %
// ceil_div min max, comparisons.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "include/assay.h"
#include "validate/problem/op.hpp"

namespace assay {

class Expression {
 public:
  Expression() = default;
  // Throws BadInput, one sentence, for a text that is no expression over this op's names.
  Expression(const Op& op, std::string_view text);
  explicit Expression(double number) : steps_{{Step::Kind::number, number, 0, 0}} {}
  double value(const Op& op, const AssayCall& call) const;
  // The same, which must be a whole number.  Throws std::runtime_error if it is none.
  std::int64_t whole(const Op& op, const AssayCall& call) const;
  const std::string& text() const { return text_; }

 private:
  friend class ExpressionParser;
  struct Step {  // of a machine with a stack
    enum class Kind : std::uint8_t {
      number,
      extent,
      attribute,
      stride,
      aligned,
      add,
      subtract,
      multiply,
      remainder,
      ceil_div,
      min,
      max,
      equal,
      unequal,
      less,
      at_most,
      more,
      at_least
    };
    Kind kind;
    double number;          // or the bytes of an alignment
    int tensor, dimension;  // of a stride, an extent or an alignment; `tensor` is the index of an attribute too
  };
  std::vector<Step> steps_;
  std::string text_;
};

}  // namespace assay
