// SPDX-License-Identifier: Apache-2.0
// Reads formulas as text (text.hpp).
#include "reference/formula/text.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "reference/formula/text_words.hpp"

namespace assay::formula {
namespace {

using namespace text;
using What = TextExpression::What;

constexpr int kMostNested = 200;  // expressions in expressions

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

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == text.npos ? std::string() : std::string(text.substr(first, last - first + 1));
}

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

// Splits at what no parenthesis, bracket or brace encloses.
std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  std::size_t from = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' || text[i] == '[' || text[i] == '{';
    depth -= text[i] == ')' || text[i] == ']' || text[i] == '}';
    if (text[i] != at || depth > 0) continue;
    parts.push_back(text.substr(from, i - from));
    from = i + 1;
  }
  parts.push_back(text.substr(from));
  return parts;
}

// Lines, of a formula or of a step of a scan.
class LineReader {
 public:
  // `assigned` gets the names of a line, `used` those that it uses.  `states`: of a step, which its lines assign once more; what
  // a state was before the step is then no longer there.
  LineReader(const TextNames& names, NameSet& assigned, NameSet& used, NameSet states = {})
      : names_(names), assigned_(assigned), used_(used), states_(std::move(states)) {}

  TextLine read(std::string_view text) {
    TextLine line = split_at_equals(text);
    for (const std::string& name : line.names)
      if (assigned_.contains(name) || has(names_.inputs, name) || has(names_.attributes, name))
        refuse("'" + name + "' has a value already");
    const std::string value = trimmed(text.substr(text.find('=') + 1));
    if (value.starts_with("scan[")) read_scan(line, value);
    else if (line.names.size() > 1) refuse("only a scan assigns more than one name");
    else line.value = checked(value);
    assigned_.insert(line.names.begin(), line.names.end());
    return line;
  }

 private:
  static TextLine split_at_equals(std::string_view text) {
    const std::size_t equals = text.find('=');
    TextLine line{.text = std::string(text), .names = {}};
    for (const std::string_view name : split(text.substr(0, std::min(equals, text.size())), ','))
      line.names.push_back(trimmed(name));
    if (equals == text.npos || !std::ranges::all_of(line.names, is_name) || text.substr(equals).starts_with("=="))
      refuse("it is no assignment, like 'y = square(x)'");
    return line;
  }

  TextExpression checked(std::string_view text) {
    TextExpression e = Reader(text).whole();
    NameSet there = assigned_;
    there.insert(states_.begin(), states_.end());
    Checker(names_, there, used_).check(e);
    return e;
  }

  // scan[AXIS](STATE = FIRST, ...) { NAME = VALUE; ... }
  void read_scan(TextLine& line, std::string_view text) {
    const std::size_t axis_end = text.find("]("), open = text.find('{');
    const std::size_t firsts_end = open == text.npos ? text.npos : text.rfind(')', open);
    if (axis_end == text.npos || firsts_end == text.npos || firsts_end < axis_end || !text.ends_with('}'))
      refuse("a scan is like 'last, y = scan[steps](last = first) { last = gate * last + x; y = last }'");
    line.value = {.what = What::call, .word = "scan"};
    line.value.marks = {trimmed(text.substr(5, axis_end - 5))};
    for (const std::string_view first : split(text.substr(axis_end + 2, firsts_end - axis_end - 2), ',')) {
      line.states.push_back(split_at_equals(first).names.front());
      line.value.arguments.push_back(checked(first.substr(first.find('=') + 1)));
    }
    const NameSet states(line.states.begin(), line.states.end());
    NameSet within = assigned_;
    for (const std::string_view step : split(text.substr(open + 1, text.size() - open - 2), ';'))
      line.steps.push_back(LineReader(names_, within, used_, states).read(step));
    for (const std::string& state : line.states)
      if (!within.contains(state)) refuse("no line of its step gives '" + state + "' its next value");
    for (const std::string& name : line.names)
      if (!within.contains(name))
        refuse("'" + name + "' before the equals sign is no state, and no line of its step gives it a value");
  }

  const TextNames& names_;
  NameSet& assigned_;
  NameSet& used_;
  const NameSet states_;
};

}  // namespace

TextFormula::TextFormula(std::span<const std::string> lines, const TextNames& names)
    : outputs_(names.outputs.begin(), names.outputs.end()) {
  NameSet assigned;
  for (const std::string& text : lines)
    in_line(lines_.size(), text, [&] { lines_.push_back(LineReader(names, assigned, used_).read(text)); });
  for (std::size_t i = 0; i < lines_.size(); ++i)
    in_line(i, lines_[i].text, [&] {
      for (const std::string& name : lines_[i].names)
        if (!outputs_.contains(name) && !used_.contains(name)) refuse("nothing uses '" + name + "'");
    });
  for (const std::string_view input : names.inputs)
    if (!used_.contains(input)) refuse("no line uses the input '" + std::string(input) + "'");
}

TextCondition::TextCondition(std::string text, const TextNames& names) : text_(std::move(text)) {
  try {
    value_ = Reader(text_).whole();
    Checker({.inputs = {}, .outputs = {}, .attributes = names.attributes, .words = names.words}, {}, used_).check(value_);
  } catch (const FormulaError& e) {
    refuse("the condition '" + text_ + "': " + e.what());
  }
}

}  // namespace assay::formula
