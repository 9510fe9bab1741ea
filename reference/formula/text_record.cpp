// SPDX-License-Identifier: Apache-2.0
// Records formulas as text (text.hpp).
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "reference/formula/text.hpp"
#include "reference/formula/text_words.hpp"

namespace assay::formula {
namespace {

using namespace text;
using What = TextExpression::What;
using Value = std::variant<double, Array>;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

class Recorder {
 public:
  Recorder(Formula& f, std::span<const TextAttribute> attributes) : f_(f), attributes_(attributes) {}

  void assign(const TextLine& line) {
    if (line.steps.empty()) return give(line.names.front(), value(line.value));
    std::vector<Operand> first;
    for (const TextExpression& e : line.value.arguments) first.push_back(operand(value(e)));
    const Stepped all = f_.scan(Axis(line.value.marks[0]), first, [&](std::span<const Array> before) {
      Recorder step(*this);  // which a scan may call again
      for (std::size_t i = 0; i < before.size(); ++i) step.give(line.states[i], before[i]);
      for (const TextLine& each : line.steps) step.assign(each);
      Stepped next;
      for (const std::string& state : line.states) next.states.push_back(step.array_of(state));
      for (const std::string& name : line.names)
        if (!is_state(line, name)) next.outputs.push_back(step.array_of(name));
      return next;
    });
    std::size_t output = 0;
    for (const std::string& name : line.names) {
      const auto state = std::ranges::find(line.states, name);
      give(name, state == line.states.end() ? all.outputs[output++]
                                            : all.states[static_cast<std::size_t>(state - line.states.begin())]);
    }
  }
  Array array_of(const std::string& name) {
    const Value v = named(name);
    if (const double* const number = std::get_if<double>(&v)) refuse("'" + name + "' must be an array, and is a number");
    return std::get<Array>(v);
  }
  static bool is_state(const TextLine& line, const std::string& name) {
    return std::ranges::find(line.states, name) != line.states.end();
  }

  Value value(const TextExpression& e) {
    if (e.what == What::number) return e.number;
    if (e.what == What::name) return named(e.word);
    if (const Function* const function = find(kFunctions, e.word)) {
      const Value of = value(e.arguments[0]);
      if (const double* const number = std::get_if<double>(&of)) {
        if (!function->of_number) refuse("'" + e.word + "' of a number");
        return function->of_number(*number);
      }
      return function->of_array(operand(of));
    }
    if (const Pair* const pair = find(kPairs, e.word)) {
      if (e.word == "==")
        if (const std::optional<double> is = is_word(e)) return *is;
      const Value left = value(e.arguments[0]), right = value(e.arguments[1]);
      const double *const a = std::get_if<double>(&left), *const b = std::get_if<double>(&right);
      if (a && b) return pair->of_numbers(*a, *b);
      return pair->of_arrays(operand(left), operand(right));
    }
    if (const Reduction* const reduction = find(kReductions, e.word)) {
      std::vector<Axis> axes;
      for (const std::string& mark : e.marks) axes.emplace_back(mark);
      return Along(reduction->what, axes)(operand(value(e.arguments[0])));
    }
    return other(e);
  }

 private:
  void give(const std::string& name, Value value) { values_.insert_or_assign(name, std::move(value)); }
  static Operand operand(const Value& v) {
    if (const double* const number = std::get_if<double>(&v)) return {*number};
    return {std::get<Array>(v)};
  }
  Array array(const TextExpression& e) {
    const Value v = value(e);
    const Array* const is = std::get_if<Array>(&v);
    if (!is) refuse("a number stands where an array is expected");
    return *is;
  }
  double number(const TextExpression& e) {
    const Value v = value(e);
    const double* const is = std::get_if<double>(&v);
    if (!is) refuse("an array stands where a number is expected");
    return *is;
  }

  Value named(const std::string& name) {
    if (const auto at = values_.find(name); at != values_.end()) return at->second;
    if (const TextAttribute* const attribute = find(attributes_, name)) return attribute->value;
    if (name == "inf") return kInfinite;
    return f_.in(name);
  }

  // Of a choice and one of its words.
  std::optional<double> is_word(const TextExpression& e) const {
    for (const auto& [choice, word] :
         {std::pair(&e.arguments[0], &e.arguments[1]), std::pair(&e.arguments[1], &e.arguments[0])}) {
      const TextAttribute* const attribute = choice->what == What::name ? find(attributes_, choice->word) : nullptr;
      if (!attribute || attribute->words.empty() || word->what != What::name) continue;
      const auto at = std::ranges::find(attribute->words, std::string_view(word->word));
      if (at == attribute->words.end()) refuse("'" + word->word + "' is no word of the choice '" + choice->word + "'");
      return attribute->value == static_cast<double>(at - attribute->words.begin()) ? 1.0 : 0.0;
    }
    return {};
  }

  Value other(const TextExpression& e) {
    const auto axis = [&] { return Axis(e.marks[0]); };
    if (e.word == "where") {
      const Value condition = value(e.arguments[0]);
      if (const double* const is = std::get_if<double>(&condition)) return value(e.arguments[*is != 0 ? 1 : 2]);
      return where(operand(condition), operand(value(e.arguments[1])), operand(value(e.arguments[2])));
    }
    if (e.word == "take") return take(array(e.arguments[0]), axis(), array(e.arguments[1]));
    if (e.word == "put") return put(operand(value(e.arguments[0])), axis(), array(e.arguments[1]));
    if (e.word == "index" && e.arguments.empty()) return f_.index(axis());
    if (e.word == "index") return f_.index(axis(), static_cast<std::int64_t>(number(e.arguments[0])));
    if (e.word == "extent") return static_cast<double>(f_.extent(axis()));
    if (e.word == "step") return step(e.marks[0], array(e.arguments[0]));
    if (e.word == "rounded_to") {
      const auto dtype = parse_dtype(e.marks[0]);
      if (!dtype) refuse("there is no dtype '" + e.marks[0] + "'");
      return rounded_to(*dtype, array(e.arguments[0]));
    }
    if (e.word == "either")
      return either(array(e.arguments[0]), array(e.arguments[1]), e.marks.empty() ? std::string_view() : e.marks[0]);
    if (e.word == "rename") {
      if (e.arguments[0].what != What::name) refuse("'rename' takes the name of an input");
      f_.rename(e.arguments[0].word, Axis(e.marks[0]), Axis(e.marks[1]));
      return f_.in(e.arguments[0].word);
    }
    const bool is_cos = e.word == "cos_turn";
    const Array position = array(e.arguments[0]);
    if (e.arguments.size() == 2) {
      const Array frequency = array(e.arguments[1]);
      return is_cos ? cos_turn(position, frequency) : sin_turn(position, frequency);
    }
    if (e.arguments.size() == 3) refuse("'" + e.word + "' takes two arguments or four");
    const Value above = value(e.arguments[1]), below = value(e.arguments[2]);
    const double base = number(e.arguments[3]);
    return is_cos ? cos_turn(position, operand(above), operand(below), base)
                  : sin_turn(position, operand(above), operand(below), base);
  }

  Formula& f_;
  std::span<const TextAttribute> attributes_;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace

void TextFormula::record(Formula& f, std::span<const TextAttribute> attributes) const {
  Recorder recorder(f, attributes);
  for (std::size_t i = 0; i < lines_.size(); ++i)
    in_line(i, lines_[i].text, [&] {
      recorder.assign(lines_[i]);
      for (const std::string& name : lines_[i].names)
        if (outputs_.contains(name)) f.out(name, recorder.array_of(name));
    });
}

bool TextCondition::holds(Formula& f, std::span<const TextAttribute> attributes) const {
  try {
    const Value value = Recorder(f, attributes).value(value_);
    if (const double* const number = std::get_if<double>(&value)) return *number != 0;
    refuse("it is no condition on numbers");
  } catch (const FormulaError& e) {
    refuse("the condition '" + text_ + "': " + without_place(e.what()));
  }
}

}  // namespace assay::formula
