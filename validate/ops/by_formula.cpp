// SPDX-License-Identifier: Apache-2.0
#include "validate/ops/by_formula.hpp"

#include <algorithm>
#include <cfenv>
#include <deque>
#include <string>
#include <vector>

#include "validate/problem/image.hpp"
#include "validate/values/common_fills.hpp"

namespace assay {

namespace {

constexpr std::int64_t kExtent = 4;   // of every axis of the cases that are tried
constexpr std::int64_t kSteps = 128;  // of a recurrence: a state that doubles at each leaves the range of f32

// A problem of a small case, with its tensors' memory.
class Small {
 public:
  Small(const Op& op, const Case& c, bool filled) : problem(op.make()) {
    const std::vector<Placement> placements = place(op, c);
    std::vector<std::byte*> images(placements.size(), nullptr);
    for (std::size_t i = 0; filled && i < placements.size(); ++i) {
      images[i] = memory_.emplace_back(placements[i].bytes + 1).data();
      fill_image(op, c, static_cast<int>(i), placements[i], images[i], std::byte{});
      if (op.tensors[i].role == Role::output && elements == 0) elements = static_cast<std::size_t>(placements[i].tensor.size());
    }
    attach(*problem, c, placements, images);
  }
  std::unique_ptr<Problem> problem;
  std::size_t elements = 0;  // of the first output

 private:
  std::deque<std::vector<std::byte>> memory_;
};

Case small_case(const Op& op, DType dtype = f32) {
  Case c{.op = std::string(op.name), .dtype = dtype};
  for (const AxisUse& use : op.axes) c.dims[use.axis] = std::max(use.least, kExtent);
  return c;
}

// With the default of each attribute, and with each value of each choice.
std::vector<Case> small_cases(const Op& op) {
  std::vector<Case> cases{small_case(op)};
  for (const Attribute& a : op.attributes)
    for (std::size_t value = 1; value < a.choices.size(); ++value) {
      cases.push_back(cases.front());
      cases.back().attributes[std::string(a.name)] = static_cast<double>(value);
    }
  return cases;
}

bool has(const std::vector<std::string>& axes, const Axis& axis) { return std::ranges::find(axes, axis.name) != axes.end(); }

// Whether a fill shows nothing in this op: a kernel that computes in f32, or stores its steps, overflows where exact arithmetic
// does not, or its only output is of zeros.
bool shows_nothing(const Op& op, const FormulaOf& formula, const FormulaFacts& facts, const Fill& fill, DType dtype) {
  Case c = small_case(op, dtype);
  for (const AxisUse& use : op.axes)
    if (has(facts.recurrent, use.axis)) c.dims[use.axis] = std::max(use.least, kSteps);
  c.fill = fill.name;
  const Small small(op, c, true);
  std::vector<double> y(small.elements);
  const bool overflows = formula.overflows(small.problem->args(), {.stores_intermediate = true, .stores_every_step = true}, y);
  const bool alone = std::ranges::count(op.tensors, Role::output, &TensorSpec::role) == 1;
  return overflows || (alone && std::ranges::all_of(y, [dtype](double v) { return round_to(dtype, v) == 0; }));
}

// Overflows and NaNs are tried on purpose: they must not trap, and come out the same, in whatever state the process was started.
class UsualArithmetic {
 public:
  UsualArithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~UsualArithmetic() { std::fesetenv(&before_); }
  UsualArithmetic(const UsualArithmetic&) = delete;
  UsualArithmetic& operator=(const UsualArithmetic&) = delete;

 private:
  std::fenv_t before_{};
};

}  // namespace

void derive_hooks(Op& op, const FormulaOf& formula) {
  Hooks& hooks = op.hooks;
  hooks.oracle = formula.oracle;
  if (formula.stated) return;
  std::vector<FormulaFacts> facts;
  for (const Case& c : small_cases(op)) facts.push_back(formula.facts(Small(op, c, false).problem->args()));
  const auto of_all = [&](auto&& is) { return std::ranges::all_of(facts, is); };

  hooks.only_sums = of_all([](const FormulaFacts& f) { return f.only_sums; });
  hooks.repeated_roundings = !of_all([](const FormulaFacts& f) { return !f.stores; });
  for (const FormulaFacts& f : facts)
    if (hooks.last_addend.empty() && !f.last_addend.empty()) hooks.last_addend = op.tensors[tensor_index(op, f.last_addend)].name;
  for (const AxisUse& use : op.axes)
    if (!of_all([&](const FormulaFacts& f) { return !has(f.summed, use.axis); })) hooks.summed.push_back({.axis = use.axis});
  const UsualArithmetic here;
  for (const Fill& fill : common_fills()) {
    Overflow overflow{fill.name};
    for (const DType dtype : kActivationDTypes)
      if (shows_nothing(op, formula, facts.front(), fill, dtype)) overflow.dtypes.push_back(dtype);
    if (!overflow.dtypes.empty()) hooks.overflows.push_back(std::move(overflow));
  }
}

}  // namespace assay
