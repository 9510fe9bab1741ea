// SPDX-License-Identifier: Apache-2.0
// Reads and records formulas as text (text.hpp).
#include "reference/formula/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace assay::formula {
namespace {

using What = TextExpression::What;
using Value = std::variant<double, Array>;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr int kMostNested = 200;  // expressions in expressions

[[noreturn]] void refuse(const std::string& why) { throw FormulaError(why); }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Expressions, by falling precedence: unary minus, * and /, + and -, comparisons, &&.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  TextExpression whole() {
    TextExpression e = both();
    if (at_ < text_.size()) refuse("'" + std::string(text_.substr(at_, 20)) + "' is not expected there");
    return e;
  }

 private:
  using Level = TextExpression (Reader::*)();

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(std::string_view sign) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    skip_spaces();
    return true;
  }
  void need(std::string_view sign) {
    if (!take(sign)) refuse("'" + std::string(sign) + "' is missing" + (at_ < text_.size() ? " before '" + rest() + "'" : ""));
  }
  std::string rest() const { return std::string(text_.substr(at_, 20)); }

  TextExpression joined(Level of, std::initializer_list<std::string_view> signs) {
    TextExpression e = (this->*of)();
    for (;;) {
      const auto sign = std::ranges::find_if(signs, [&](std::string_view s) { return take(s); });
      if (sign == signs.end()) return e;
      TextExpression right = (this->*of)();
      e = {.what = What::call, .word = std::string(*sign), .arguments = {std::move(e), std::move(right)}};
    }
  }
  TextExpression both() { return joined(&Reader::compared, {"&&"}); }
  TextExpression compared() { return joined(&Reader::sum, {"<=", ">=", "==", "<", ">"}); }
  TextExpression sum() { return joined(&Reader::product, {"+", "-"}); }
  TextExpression product() { return joined(&Reader::factor, {"*", "/"}); }

  TextExpression factor() {
    if (++nested_ > kMostNested) refuse("it is nested too deep");
    TextExpression e;
    if (take("-")) e = {.what = What::call, .word = "negate", .arguments = {factor()}};
    else if (take("(")) {
      e = both();
      need(")");
    } else e = word_or_number();
    --nested_;
    return e;
  }

  TextExpression word_or_number() {
    skip_spaces();
    if (at_ == text_.size()) refuse("it ends where a value is expected");
    if (is_digit(text_[at_]) || text_[at_] == '.') {
      TextExpression e;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), e.number);
      if (error != std::errc()) refuse("'" + rest() + "' is no number");
      at_ = static_cast<std::size_t>(end - text_.data());
      return e;
    }
    if (!is_letter(text_[at_])) refuse("'" + rest() + "' is no value");
    TextExpression e{.what = What::name};
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) e.word += text_[at_++];
    if (take("[")) {
      e.what = What::call;
      e.marks = marks();
    }
    if (take("(")) {
      e.what = What::call;
      if (take(")")) return e;
      do e.arguments.push_back(both());
      while (take(","));
      need(")");
    }
    return e;
  }

  // Names, which may be like "channels/128" or "batch+1".
  std::vector<std::string> marks() {
    std::vector<std::string> all;
    do {
      std::string& mark = all.emplace_back();
      while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ']' && text_[at_] != ' ') mark += text_[at_++];
      if (mark.empty()) refuse("a name is missing in brackets");
    } while (take(","));
    need("]");
    return all;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int nested_ = 0;
};

struct Function {
  std::string_view name;
  Array (*of_array)(const Operand&);
  double (*of_number)(double);  // null: there is none
};
constexpr Function kFunctions[] = {
    {"negate", [](const Operand& a) { return -a; }, [](double v) { return -v; }},
    {"square", square, [](double v) { return v * v; }},
    {"absolute", absolute, [](double v) { return std::fabs(v); }},
    {"exp", exp, [](double v) { return std::exp(v); }},
    {"log", log, [](double v) { return std::log(v); }},
    {"tanh", tanh, nullptr},
    {"erf", erf, nullptr},
    {"sigmoid", sigmoid, nullptr},
    {"softplus", softplus, nullptr},
    {"silu", silu, nullptr},
    {"gelu_tanh", gelu_tanh, nullptr},
    {"gelu_erf", gelu_erf, nullptr},
    {"sqrt", sqrt, [](double v) { return std::sqrt(v); }},
    {"rsqrt", rsqrt, [](double v) { return 1 / std::sqrt(v); }},
};

struct Pair {
  std::string_view name;
  Array (*of_arrays)(const Operand&, const Operand&);
  double (*of_numbers)(double, double);
};
constexpr Pair kPairs[] = {
    {"+", [](const Operand& a, const Operand& b) { return a + b; }, [](double a, double b) { return a + b; }},
    {"-", [](const Operand& a, const Operand& b) { return a - b; }, [](double a, double b) { return a - b; }},
    {"*", [](const Operand& a, const Operand& b) { return a * b; }, [](double a, double b) { return a * b; }},
    {"/", [](const Operand& a, const Operand& b) { return a / b; }, [](double a, double b) { return a / b; }},
    {"&&", [](const Operand& a, const Operand& b) { return a && b; },
     [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
    {"<", [](const Operand& a, const Operand& b) { return a < b; }, [](double a, double b) { return a < b ? 1.0 : 0.0; }},
    {"<=", [](const Operand& a, const Operand& b) { return a <= b; }, [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
    {">", [](const Operand& a, const Operand& b) { return a > b; }, [](double a, double b) { return a > b ? 1.0 : 0.0; }},
    {">=", [](const Operand& a, const Operand& b) { return a >= b; }, [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
    {"==", [](const Operand& a, const Operand& b) { return a <= b && b <= a; },
     [](double a, double b) { return a == b ? 1.0 : 0.0; }},
    {"maximum", maximum, [](double a, double b) { return std::max(a, b); }},
    {"minimum", minimum, [](double a, double b) { return std::min(a, b); }},
    {"quotient", quotient, [](double a, double b) { return std::floor(a / b); }},
};

struct Reduction {
  std::string_view name;
  Along::What what;
};
constexpr Reduction kReductions[] = {
    {"sum", Along::What::sum},
    {"mean", Along::What::mean},
    {"max", Along::What::max},
    {"softmax", Along::What::softmax},
    {"softmax_or_zero", Along::What::softmax_or_zero},
    {"logsumexp", Along::What::logsumexp},
    {"log_softmax", Along::What::log_softmax},
};

// How many names and arguments another word takes, at least and at most.
struct Word {
  std::string_view name;
  std::size_t fewest_marks, most_marks, fewest, most;
};
constexpr Word kWords[] = {{"where", 0, 0, 3, 3},    {"take", 1, 1, 2, 2},     {"put", 1, 1, 2, 2},        {"index", 1, 1, 0, 1},
                           {"extent", 1, 1, 0, 0},   {"step", 1, 1, 1, 1},     {"rounded_to", 1, 1, 1, 1}, {"either", 0, 1, 2, 2},
                           {"cos_turn", 0, 0, 2, 4}, {"sin_turn", 0, 0, 2, 4}, {"rename", 2, 2, 1, 1}};

template <class List>
auto find(const List& list, std::string_view name) {
  const auto at = std::ranges::find_if(list, [&](const auto& entry) { return entry.name == name; });
  return at == std::end(list) ? nullptr : &*at;
}
bool has(const std::vector<std::string_view>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

using NameSet = std::set<std::string, std::less<>>;

// Throws if the expression uses a word that is none, or a name that has no value.  Adds the names that it uses to `used`.
class Checker {
 public:
  Checker(const TextNames& names, const NameSet& assigned, NameSet& used) : names_(names), assigned_(assigned), used_(used) {}

  void check(const TextExpression& e) const {
    if (e.what == What::name) check_name(e.word);
    if (e.what != What::call) return;
    const std::size_t marks = e.marks.size(), count = e.arguments.size();
    if (find(kFunctions, e.word)) need(e, marks == 0 && count == 1, "one argument");
    else if (find(kPairs, e.word)) need(e, marks == 0 && count == 2, "two arguments");
    else if (find(kReductions, e.word)) need(e, marks >= 1 && count == 1, "axes in brackets and one argument");
    else if (const Word* const word = find(kWords, e.word))
      need(e, marks >= word->fewest_marks && marks <= word->most_marks && count >= word->fewest && count <= word->most,
           std::to_string(word->most_marks) + " names in brackets and " + std::to_string(word->most) + " arguments");
    else refuse("there is no function '" + e.word + "'");
    for (const TextExpression& argument : e.arguments) check(argument);
  }

 private:
  static void need(const TextExpression& e, bool ok, const std::string& what) {
    if (!ok) refuse("'" + e.word + "' takes " + what);
  }
  void check_name(const std::string& name) const {
    used_.insert(name);
    if (has(names_.inputs, name) || has(names_.attributes, name) || has(names_.words, name) || name == "inf") return;
    if (!assigned_.contains(name)) refuse("'" + name + "' has no value there");
  }

  const TextNames& names_;
  const NameSet& assigned_;
  NameSet& used_;
};

class Recorder {
 public:
  Recorder(Formula& f, std::span<const TextAttribute> attributes) : f_(f), attributes_(attributes) {}
  void give(const std::string& name, Value value) { values_.insert_or_assign(name, std::move(value)); }

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

// What a message says without the place in this file that formula.hpp has put before it.
std::string without_place(std::string_view what) {
  const std::string_view file = __FILE__;
  const std::size_t at = what.find(": ");
  return std::string(at != what.npos && what.starts_with(file) ? what.substr(at + 2) : what);
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == text.npos ? std::string() : std::string(text.substr(first, last - first + 1));
}

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

// Says which line a mistake is in.
template <class Do>
void in_line(std::size_t number, const std::string& text, Do&& act) {
  try {
    act();
  } catch (const FormulaError& e) {
    refuse("line " + std::to_string(number + 1) + " of the formula, '" + text + "': " + without_place(e.what()));
  }
}

}  // namespace

TextFormula::TextFormula(std::span<const std::string> lines, const TextNames& names) {
  NameSet assigned;
  for (const std::string& text : lines) {
    in_line(lines_.size(), text, [&] {
      const std::size_t equals = text.find('=');
      const std::string name = trimmed(std::string_view(text).substr(0, std::min(equals, text.size())));
      if (equals == text.npos || !is_name(name) || text.substr(equals).starts_with("=="))
        refuse("it is no assignment, like 'y = square(x)'");
      if (assigned.contains(name) || has(names.inputs, name) || has(names.attributes, name))
        refuse("'" + name + "' has a value already");
      Line line{.text = text, .name = name, .is_output = has(names.outputs, name)};
      line.value = Reader(std::string_view(text).substr(equals + 1)).whole();
      Checker(names, assigned, used_).check(line.value);
      assigned.insert(name);
      lines_.push_back(std::move(line));
    });
  }
  for (std::size_t i = 0; i < lines_.size(); ++i)
    if (!lines_[i].is_output && !used_.contains(lines_[i].name))
      in_line(i, lines_[i].text, [&] { refuse("nothing uses '" + lines_[i].name + "'"); });
  for (const std::string_view input : names.inputs)
    if (!used_.contains(input)) refuse("no line uses the input '" + std::string(input) + "'");
}

void TextFormula::record(Formula& f, std::span<const TextAttribute> attributes) const {
  Recorder recorder(f, attributes);
  for (std::size_t i = 0; i < lines_.size(); ++i)
    in_line(i, lines_[i].text, [&] {
      Value value = recorder.value(lines_[i].value);
      if (lines_[i].is_output) {
        if (!std::holds_alternative<Array>(value)) refuse("an output is an array, and this is a number");
        f.out(lines_[i].name, std::get<Array>(value));
      }
      recorder.give(lines_[i].name, std::move(value));
    });
}

TextCondition::TextCondition(std::string text, const TextNames& names) : text_(std::move(text)) {
  try {
    value_ = Reader(text_).whole();
    Checker({.inputs = {}, .outputs = {}, .attributes = names.attributes, .words = names.words}, {}, used_).check(value_);
  } catch (const FormulaError& e) {
    refuse("the condition '" + text_ + "': " + e.what());
  }
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
