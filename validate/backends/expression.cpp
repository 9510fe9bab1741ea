// SPDX-License-Identifier: Apache-2.0
#include "validate/backends/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "validate/base/error.hpp"

namespace assay {

// A recursive descent: comparison < sum < product < value.
class ExpressionParser {
  using Step = Expression::Step;
  using Kind = Step::Kind;

 public:
  ExpressionParser(const Op& op, std::string_view text) : op_(op), text_(text) {}
  std::vector<Step> run() {
    if (text_.size() > 500) throw BadInput("an expression has up to 500 characters");
    comparison();
    blanks();
    if (at_ != text_.size()) fail("an operator");
    return std::move(steps_);
  }

 private:
  [[noreturn]] void fail(const char* expected) const {
    throw BadInput(fmt::format("'{}' is no expression: {} was expected at its character {}", text_, expected, at_ + 1));
  }
  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(std::string_view mark) {
    blanks();
    if (text_.substr(at_, mark.size()) != mark) return false;
    at_ += mark.size();
    return true;
  }
  void expect(const char* mark) {
    if (!accept(mark)) fail(fmt::format("'{}'", mark).c_str());
  }
  void push(Kind kind, double number = 0, int tensor = 0, int dimension = 0) {
    steps_.push_back({kind, number, tensor, dimension});
  }

  void comparison() {
    sum();
    constexpr std::pair<std::string_view, Kind> kMarks[] = {{"==", Kind::equal},    {"!=", Kind::unequal}, {"<=", Kind::at_most},
                                                            {">=", Kind::at_least}, {"<", Kind::less},     {">", Kind::more}};
    for (const auto& [mark, kind] : kMarks)
      if (accept(mark)) {
        sum();
        return push(kind);
      }
  }
  void sum() {
    product();
    for (;;)
      if (accept("+")) {
        product();
        push(Kind::add);
      } else if (accept("-")) {
        product();
        push(Kind::subtract);
      } else return;
  }
  void product() {
    value();
    for (;;)
      if (accept("*")) {
        value();
        push(Kind::multiply);
      } else if (accept("%")) {
        value();
        push(Kind::remainder);
      } else return;
  }
  void value() {
    if (++depth_ > 32) throw BadInput(fmt::format("'{}' nests too deeply", text_));
    blanks();
    if (accept("(")) {
      comparison();
      expect(")");
    } else if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) number();
    else named();
    --depth_;
  }
  void number() {
    double v = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
    if (error != std::errc()) fail("a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    push(Kind::number, v);
  }
  std::string_view word() {
    blanks();
    const std::size_t first = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    if (at_ == first) fail("a name or a number");
    return text_.substr(first, at_ - first);
  }
  void named() {
    const std::string_view name = word();
    if (name == "stride") return stride();
    if (name == "aligned") return aligned();
    for (const auto& [function, kind] :
         {std::pair{"ceil_div", Kind::ceil_div}, std::pair{"min", Kind::min}, std::pair{"max", Kind::max}})
      if (name == function) {
        expect("(");
        comparison();
        expect(",");
        comparison();
        expect(")");
        return push(kind);
      }
    for (std::size_t t = 0; t < op_.tensors.size(); ++t)
      for (std::size_t k = 0; k < op_.tensors[t].axes.size(); ++k)
        if (op_.tensors[t].axes[k].is_axis() && op_.tensors[t].axes[k].axis.name == name)
          return push(Kind::extent, 0, static_cast<int>(t), static_cast<int>(k));
    for (std::size_t a = 0; a < op_.attributes.size(); ++a) {
      if (op_.attributes[a].name == name) return push(Kind::attribute, 0, static_cast<int>(a));
      const auto& choices = op_.attributes[a].choices;
      if (const auto at = std::find(choices.begin(), choices.end(), name); at != choices.end())
        return push(Kind::number, static_cast<double>(at - choices.begin()));
    }
    Names names{"stride", "aligned", "ceil_div", "min", "max"};
    for (const AxisUse& use : op_.axes) names.push_back(use.axis.name);
    for (const Attribute& a : op_.attributes) names.push_back(a.name);
    throw BadInput(unknown(fmt::format("name in '{}'", text_), name, names));
  }
  // Takes `(TENSOR, N)` and returns the index of the tensor.
  std::size_t tensor_and(int& n) {
    expect("(");
    const std::string_view tensor = word();
    const std::size_t t = tensor_index(op_, tensor);
    if (t == op_.tensors.size()) {
      Names names;
      for (const TensorSpec& spec : op_.tensors) names.push_back(spec.name);
      throw BadInput(unknown("tensor", tensor, names));
    }
    expect(",");
    const std::string_view digits = word();
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (error != std::errc() || end != digits.data() + digits.size()) fail("a whole number, as the second argument,");
    expect(")");
    return t;
  }
  void stride() {
    int dimension = 0;
    const std::size_t t = tensor_and(dimension), axes = op_.tensors[t].axes.size();
    if (dimension < 0 || dimension >= static_cast<int>(axes))
      throw BadInput(fmt::format("'{}': the tensor '{}' has {} axes", text_, op_.tensors[t].name, axes));
    push(Kind::stride, 0, static_cast<int>(t), dimension);
  }
  void aligned() {
    int bytes = 0;
    const std::size_t t = tensor_and(bytes);
    if (bytes < 1 || bytes > 256 || (bytes & (bytes - 1)) != 0)
      throw BadInput(fmt::format("'{}': an alignment is a power of two up to 256", text_));
    push(Kind::aligned, bytes, static_cast<int>(t));
  }

  const Op& op_;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<Step> steps_;
};

namespace {

// An extent, of the first tensor of this case that has the axis.
double extent_of(const Op& op, const AssayCall& call, int tensor, int dimension) {
  const Extent& extent = op.tensors[static_cast<std::size_t>(tensor)].axes[static_cast<std::size_t>(dimension)];
  for (std::size_t t = 0; t < op.tensors.size(); ++t)
    for (std::size_t k = 0; call.tensors[t] && k < op.tensors[t].axes.size(); ++k)
      if (op.tensors[t].axes[k] == extent) return static_cast<double>(call.tensors[t]->dl.shape[k]);
  return 0;
}

// Whether the first element's address is a multiple of so many bytes; true of a tensor that this case has not.
bool is_aligned(const AssayCall& call, int tensor, double bytes) {
  const AssayTensor* t = call.tensors[tensor];
  return !t || reinterpret_cast<std::uintptr_t>(t->dl.data) % static_cast<std::uintptr_t>(bytes) == 0;
}

double attribute_of(const Op& op, const AssayCall& call, int index) {
  const Attribute& a = op.attributes[static_cast<std::size_t>(index)];
  const AssayAttribute& given = *call.attributes[index];
  if (!given.word) return given.number;
  return static_cast<double>(std::find(a.choices.begin(), a.choices.end(), std::string_view(given.word)) - a.choices.begin());
}

}  // namespace

Expression::Expression(const Op& op, std::string_view text) : steps_(ExpressionParser(op, text).run()), text_(text) {}

double Expression::value(const Op& op, const AssayCall& call) const {
  using Kind = Step::Kind;
  std::vector<double> stack;
  for (const Step& s : steps_) {
    if (s.kind <= Kind::aligned) {
      const AssayTensor* t = s.kind == Kind::stride ? call.tensors[s.tensor] : nullptr;
      stack.push_back(s.kind == Kind::number      ? s.number
                      : s.kind == Kind::extent    ? extent_of(op, call, s.tensor, s.dimension)
                      : s.kind == Kind::attribute ? attribute_of(op, call, s.tensor)
                      : s.kind == Kind::aligned   ? is_aligned(call, s.tensor, s.number)
                      : t                         ? static_cast<double>(t->dl.strides[s.dimension])
                                                  : 0.0);
      continue;
    }
    const double b = stack.back();
    stack.pop_back();
    double& a = stack.back();
    switch (s.kind) {
      case Kind::add: a += b; break;
      case Kind::subtract: a -= b; break;
      case Kind::multiply: a *= b; break;
      case Kind::remainder: a = b == 0 ? 0 : std::fmod(a, b); break;
      case Kind::ceil_div: a = b == 0 ? 0 : std::ceil(a / b); break;
      case Kind::min: a = std::min(a, b); break;
      case Kind::max: a = std::max(a, b); break;
      case Kind::equal: a = a == b; break;
      case Kind::unequal: a = a != b; break;
      case Kind::less: a = a < b; break;
      case Kind::at_most: a = a <= b; break;
      case Kind::more: a = a > b; break;
      default: a = a >= b; break;
    }
  }
  return stack.back();
}

std::int64_t Expression::whole(const Op& op, const AssayCall& call) const {
  const double v = value(op, call);
  if (v != std::floor(v) || std::fabs(v) > 0x1p53)
    throw std::runtime_error(fmt::format("'{}' is {}, and a whole number was expected", text_, v));
  return static_cast<std::int64_t>(v);
}

}  // namespace assay
