// SPDX-License-Identifier: Apache-2.0
#include "validate/ops/by_formula.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/core/stored.hpp"
#include "validate/problem/image.hpp"
#include "validate/problem/search/solved_case.hpp"
#include "validate/values/common_fills.hpp"

namespace assay {

namespace {

constexpr std::uint64_t kDraws = 4;   // of a fill
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

// With the first extents that are legal.
Case small_case(const Op& op, DType dtype = f32) {
  Case c{.op = std::string(op.name), .dtype = dtype};
  for (const std::int64_t extent : kSmallExtents) {
    for (const AxisUse& use : op.axes) c.dims[use.axis] = use.within(extent);
    if (Small(op, c, false).problem->legal()) break;
  }
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

// Whether most of an output may be infinite or NaN though it is finite in exact arithmetic, as means are by weights of scores so
// large that the rounding of their maximum overflows an exponential.
bool is_unknown(std::span<const double> golden, std::span<const double> bounds) {
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < golden.size(); ++i) unknown += std::isfinite(golden[i]) && !std::isfinite(bounds[i]);
  return 2 * unknown > golden.size();
}

// What rounding cannot change: NaN, an infinity of either sign, or a number.
double class_of(double v) { return std::isnan(v) ? 2 : std::isinf(v) ? std::copysign(1, v) : 0; }

// Whether a fill shows nothing in this op: a kernel that computes in f32, or stores its steps, overflows where exact arithmetic
// does not, in some draw; or what is computed in two ways is NaN in one and infinite in the other; or in every draw its only
// output is of zeros, or its first is unknown.
bool shows_nothing(const Op& op, const FormulaOf& formula, const FormulaFacts& facts, const Fill& fill, DType dtype) {
  Case c = small_case(op, dtype);
  for (const AxisUse& use : op.axes)
    if (has(facts.recurrent, use.axis)) c.dims[use.axis] = use.within(kSteps);
  c.fill = fill.name;
  const UsualArithmetic here;
  const bool is_only_output = std::ranges::count(op.tensors, Role::output, &TensorSpec::role) == 1;
  bool shows = false;
  for (c.seed = 0; c.seed < kDraws; ++c.seed) {
    const Small small(op, c, true);
    std::vector<double> y(small.elements);
    const std::span<double> first(y);
    const void* const args = small.problem->args();
    if (formula.oracle(args, {.stores = kAllSteps}, Roundings::declared, {&first, 1})) return true;
    small.problem->solve();
    const std::span<const double> golden = small.problem->golden(0);
    for (const std::string& way : facts.ways) {
      formula.oracle(args, {.ways = way}, Roundings::declared, {&first, 1});
      if (!std::ranges::equal(golden, y, {}, class_of, class_of)) return true;
    }
    const bool zeros = std::ranges::all_of(golden, [dtype](double v) { return round_to(dtype, v) == 0; });
    shows = shows || (!(zeros && is_only_output) && !is_unknown(golden, small.problem->bounds({}, 0)));
  }
  return !shows;
}

// Common fills, each tried when it is first asked.
class TriedFills {
 public:
  TriedFills(const Op& op, const FormulaOf& formula, FormulaFacts facts) : op_(op), formula_(formula), facts_(std::move(facts)) {}

  bool shows_nothing(std::string_view name, DType dtype) {
    // Note: where even the usual values show nothing, most cases would be gone unseen.  Power tells it
    // (validate/judge/power.hpp).
    if (name == common_fills().front().name) return false;
    const auto fill = std::ranges::find(common_fills(), name, &Fill::name);
    const bool is_own = std::ranges::find(op_.hooks.fills, name, &Fill::name) != op_.hooks.fills.end();
    if (fill == common_fills().end() || is_own) return false;
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = found_.try_emplace({fill->name, dtype}, false);
    if (is_new) at->second = assay::shows_nothing(op_, formula_, facts_, *fill, dtype);
    return at->second;
  }

 private:
  const Op op_;  // as it was before its formula was asked
  const FormulaOf formula_;
  const FormulaFacts facts_;
  std::mutex mutex_;
  std::map<std::pair<std::string_view, DType>, bool> found_;
};

}  // namespace

void describe_by_formula(Op& op, const FormulaOf& formula) {
  std::vector<FormulaFacts> facts;
  for (const Case& c : small_cases(op)) facts.push_back(formula.facts(Small(op, c, false).problem->args()));
  const auto of_all = [&](auto&& is) { return std::ranges::all_of(facts, is); };

  op.formula.oracle = formula.oracle;
  op.formula.without_last = formula.without_last;
  op.formula.only_sums = of_all([](const FormulaFacts& f) { return f.only_sums; });
  for (const FormulaFacts& f : facts)
    if (op.formula.last_addend.empty() && !f.last_addend.empty())
      op.formula.last_addend = op.tensors[tensor_index(op, f.last_addend)].name;
  for (const FormulaFacts& f : facts) {
    for (const FormulaStep& step : f.steps) add_step(op.formula.steps, step);
    for (const std::string& way : f.ways)
      if (std::ranges::find(op.formula.ways, way) == op.formula.ways.end()) op.formula.ways.push_back(way);
  }
  for (const AxisUse& use : op.axes)
    if (!of_all([&](const FormulaFacts& f) { return !has(f.summed, use.axis); })) op.formula.summed.push_back(use.axis);
  const auto tried = std::make_shared<TriedFills>(op, formula, facts.front());
  op.formula.shows_nothing = [tried](std::string_view fill, DType dtype) { return tried->shows_nothing(fill, dtype); };
}

void describe_by_stages(Op& op, StagesOf stages) {
  const auto is_input = [&](const Stage::Part& part) {
    const auto tensor = std::ranges::find(op.tensors, part.is, &TensorSpec::name);
    return tensor != op.tensors.end() && tensor->role == Role::input;
  };
  std::set<std::string> ops;
  for (const Case& c : small_cases(op))
    for (const Stage& stage : stages(Small(op, c, false).problem->args()))
      if (std::ranges::any_of(stage.parts, is_input)) ops.emplace(stage.op);
  op.formula.shows_nothing = [ops](std::string_view fill, DType dtype) {
    return std::ranges::any_of(ops, [&](const std::string& name) {
      const Op* const stage = find_op(name);
      return stage && stage->formula.shows_nothing && stage->formula.shows_nothing(fill, dtype);
    });
  };
}

}  // namespace assay
