// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <tuple>

#include "ops/core/linked.hpp"
#include "ops/core/stored.hpp"
#include "validate/base/error.hpp"
#include "validate/base/version.hpp"
#include "validate/cases/case.hpp"

namespace assay {

namespace {

std::vector<Kernel>& loaded_kernels() {
  static std::vector<Kernel> all;
  return all;
}

std::string_view head_comment(std::string_view op, std::string_view kernel) {
  return KnownTree::about ? KnownTree::about(op, kernel) : std::string_view();
}

std::vector<Op> linked_ops() {
  std::vector<Op> all;
  for (const LinkedOp* op = LinkedOp::first; op; op = op->next) all.push_back(op->make());
  for (Op& op : all) op.about = head_comment(op.name, "");
  if (OpsOfFiles::read) std::ranges::move(OpsOfFiles::read(), std::back_inserter(all));
  std::ranges::sort(all, {}, &Op::name);
  if (const auto twice = std::ranges::adjacent_find(all, {}, &Op::name); twice != all.end())
    throw BadInput(fmt::format("there are two ops of the name '{}'", twice->name));
  return all;
}

// A kernel of two flavours is one kernel.
std::vector<Kernel> linked_kernels() {
  std::vector<Kernel> all, merged;
  for (const LinkedOp* op = LinkedOp::first; op; op = op->next) op->add_kernels(all);
  const auto place = [](const Kernel& k) { return std::tuple(k.op, k.broken ? 1 : k.variant ? 2 : 0, k.name); };
  std::stable_sort(all.begin(), all.end(), [&](const Kernel& a, const Kernel& b) { return place(a) < place(b); });
  for (const Kernel& k : all) {
    if (merged.empty() || place(merged.back()) != place(k)) {
      merged.push_back(k);
      continue;
    }
    Kernel& before = merged.back();
    if ((before.on_simt && k.on_simt) || (before.on_gpu && k.on_gpu))
      throw std::logic_error("there are two kernels " + std::string(k.op) + "/" + std::string(k.name));
    if (k.on_simt) before.on_simt = k.on_simt;
    else before.on_gpu = k.on_gpu;
  }
  for (Kernel& k : merged) {
    if (k.about.empty()) k.about = head_comment(k.op, k.name);
    const Op* const op = find_op(k.op);
    if (const Legality has = op ? has_names(*op, k.numerics) : Legality::yes(); !has)
      throw BadInput(fmt::format("{}/{}: {}", k.op, k.name, has.why));
  }
  return merged;
}

}  // namespace

void check_axes(const Op& op) {
  constexpr std::string_view kTaken[] = {"fill", "layout", "seed", "judge", "f16", "bf16", "f32"};
  for (const AxisUse& use : op.axes) {
    const std::string_view axis = use.axis.name;
    const auto fail = [&](std::string_view why) {
      throw std::logic_error(std::string(op.name) + ": the axis '" + std::string(axis) + "' " + std::string(why));
    };
    if (!is_line_key(axis)) fail("is no word of small letters, digits and _");
    const auto named = [&](const Attribute& a) { return a.name == axis; };
    if (std::ranges::find(kTaken, axis) != std::end(kTaken) || std::ranges::any_of(op.attributes, named))
      fail("has the name of something else in a repro line");
    const auto is_extent = [&](const TensorSpec& t) {
      return std::ranges::any_of(t.axes, [&](const Extent& e) { return e.is_axis() && e.axis == use.axis; });
    };
    if (std::ranges::none_of(op.tensors, is_extent)) fail("is the extent of no tensor");
    const auto has_blocks = [&](const TensorSpec& t) {
      return std::ranges::any_of(t.axes, [&](const Extent& e) { return e.divisor != 1 && e.axis == use.axis; });
    };
    if (std::ranges::any_of(op.hooks.relations, [&](const Relation& r) { return r.axis == use.axis; }) &&
        std::ranges::any_of(op.tensors, has_blocks))
      fail("has blocks, so that a relation cannot move its indices");
  }
}

Legality has_names(const Op& op, const Numerics& n) {
  if (!op.formula.oracle) return Legality::yes();
  std::string why;
  const auto check = [&](std::string_view kind, std::string_view list, const Names& there) {
    each_name(list, [&](std::string_view listed) {
      if (!why.empty() || std::ranges::find(there, name_of(listed)) != there.end()) return;
      why = fmt::format("numerics: {}{}", unknown(kind, name_of(listed), there),
                        there.empty() ? fmt::format("; {} has none", op.name) : fmt::format("  (validate describe {})", op.name));
    });
  };
  Names steps;
  for (const FormulaStep& step : op.formula.steps) steps.push_back(step.name);
  if (name_of(n.stores) != kAllSteps) check("step", n.stores, steps);
  check("way", n.ways, {op.formula.ways.begin(), op.formula.ways.end()});
  return why.empty() ? Legality::yes() : Legality::no(why);
}

std::span<const Op> ops() {
  static const std::vector<Op> table = linked_ops();
  return table;
}
std::span<const Kernel> built_in_kernels() {
  static const std::vector<Kernel> table = linked_kernels();
  return table;
}

std::span<const Kernel> kernels() { return loaded_kernels().empty() ? built_in_kernels() : loaded_kernels(); }
void use_kernels(std::vector<Kernel> loaded) { loaded_kernels() = std::move(loaded); }

const Op* find_op(std::string_view name) {
  for (const Op& op : ops())
    if (op.name == name) return &op;
  return nullptr;
}

bool is_left_out(std::string_view op) { return !find_op(op) && !head_comment(op, "").empty(); }

std::vector<std::string_view> kernel_names(std::string_view op) {
  std::vector<std::string_view> names;
  for (const Kernel& k : kernels())
    if (k.op == op) names.push_back(k.name);
  return names;
}

const Kernel* find_kernel(std::string_view op, std::string_view name) {
  for (const Kernel& k : kernels())
    if (k.op == op && k.name == name) return &k;
  return nullptr;
}

}  // namespace assay
