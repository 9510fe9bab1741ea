// SPDX-License-Identifier: Apache-2.0
// The words of formulas as text, and how mistakes in them are told (text.hpp): for the files that read and record them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reference/formula/text.hpp"

namespace assay::formula::text {

[[noreturn]] inline void refuse(const std::string& why) { throw FormulaError(why); }

struct Function {
  std::string_view name;
  Array (*of_array)(const Operand&);
  double (*of_number)(double);  // null: there is none
};
inline constexpr Function kFunctions[] = {
    {"negate", [](const Operand& a) { return -a; }, [](double v) { return -v; }},
    {"square", square, [](double v) { return v * v; }},
    {"absolute", absolute, [](double v) { return std::fabs(v); }},
    {"round", round, [](double v) { return std::nearbyint(v); }},
    {"floor", floor, [](double v) { return std::floor(v); }},
    {"ceil", ceil, [](double v) { return std::ceil(v); }},
    {"pow2_floor", pow2_floor, nullptr},
    {"pow2_ceil", pow2_ceil, nullptr},
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
inline constexpr Pair kPairs[] = {
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
inline constexpr Reduction kReductions[] = {
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
inline constexpr Word kWords[] = {{"where", 0, 0, 3, 3},      {"take", 1, 1, 2, 2},   {"put", 1, 1, 2, 2},
                                  {"index", 1, 1, 0, 1},      {"extent", 1, 1, 0, 0}, {"step", 1, 1, 1, 1},
                                  {"rounded_to", 1, 1, 1, 1}, {"either", 0, 1, 2, 2}, {"cos_turn", 0, 0, 2, 4},
                                  {"sin_turn", 0, 0, 2, 4},   {"rename", 2, 2, 1, 1}};

template <class List>
auto find(const List& list, std::string_view name) {
  const auto at = std::ranges::find_if(list, [&](const auto& entry) { return entry.name == name; });
  return at == std::end(list) ? nullptr : &*at;
}
inline bool has(const std::vector<std::string_view>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// What a message says without the place in these files that formula.hpp has put before it.
inline std::string without_place(std::string_view what) {
  const std::size_t end = what.find(": ");
  const bool is_ours = what.substr(0, std::min(end, what.size())).find("reference/formula/text_") != what.npos;
  return std::string(is_ours ? what.substr(end + 2) : what);
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

}  // namespace assay::formula::text
