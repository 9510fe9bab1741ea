// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/search/solved_case.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace assay {

namespace {

constexpr double kNear = 0x1p-30;  // roundings of f64, relative to the largest element of an output

// Note: bits are those of the oracle.  The golden's products depend on where Eigen puts a row.
Holds compared(const OutputPair& p, const Relation::Scaled& scaling) {
  double largest = 0;
  for (const double v : p.original)
    if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
  const double most = kNear * (largest + std::fabs(scaling.added));
  bool to_the_bit = p.rounded_related.size() == p.related.size();
  for (std::size_t i = 0; i < p.related.size(); ++i) {
    const auto source = static_cast<std::size_t>(p.sources[static_cast<std::int64_t>(i)]);
    const double expected = scaling.of(p.original[source]);
    if (!same_number(p.related[i], expected) && !(std::fabs(p.related[i] - expected) <= most)) return Holds::no;
    to_the_bit = to_the_bit && same_number(p.rounded_related[i], scaling.of(p.rounded_original[source]));
  }
  return to_the_bit ? Holds::to_the_bit : Holds::nearly;
}

// Adds the legal ones with these attributes.
void add_cases(std::deque<SolvedCase>& to, const Op& op, const Attributes& attributes) {
  const OpShape shape = op.shape();
  const auto add = [&](const Case& c) {
    if (!admits(c, shape)) return false;
    if (to.emplace_back(op, c).legal) return true;
    to.pop_back();
    return false;
  };
  Case c{.op = std::string(op.name), .dtype = f32, .attributes = attributes, .seed = 1};
  int alike = 0;
  for (const std::int64_t extent : kSmallExtents) {
    for (const AxisUse& use : op.axes) c.dims[use.axis] = use.within(extent);
    if (!add(c)) continue;
    if (++alike == 2) return;
    for (const AxisUse& use : op.axes) {
      Case longer = c;
      longer.dims[use.axis] *= 2;
      add(longer);
    }
  }
}

}  // namespace

SolvedCase::SolvedCase(const Op& op, const Case& what, std::string_view coarse)
    : c(what), packing(pack(op, c)), inputs(filled_inputs(op, c, packing)) {
  if (const std::size_t t = tensor_index(op, coarse); t < op.tensors.size()) {
    Tensor x = packing.placements[t].tensor;
    x.data = inputs.data() + packing.given[t];
    for (std::int64_t i = 0; i < x.size(); ++i) x.set(i, std::round(4 * x.at(i)) / 4);
  }
  solve(op);
}

SolvedCase::SolvedCase(const Op& op, Related related)
    : c(std::move(related.c)), packing(pack(op, c)), inputs(std::move(related.inputs)) {
  solve(op);
}

void SolvedCase::solve(const Op& op) {
  problem = problem_with(op, c, packing, inputs.data());
  legal = static_cast<bool>(problem->legal());
  if (!legal) return;
  problem->solve({}, Need::values);
  if (!op.formula.oracle) return;
  for (const TensorSpec& t : op.tensors)
    if (t.role == Role::output) rounded.emplace_back(problem->golden(static_cast<int>(rounded.size())).size());
  const std::vector<std::span<double>> written(rounded.begin(), rounded.end());
  op.formula.oracle(problem->args(), {}, Roundings::declared, written);
}

std::optional<SolvedCase> related_to(const Op& op, const SolvedCase& original, const Relation& r) {
  if (!r.inverse.empty()) return {};  // it would need a kernel's outputs
  std::optional<Related> made = relate(op, original.c, r, original.packing, original.inputs.data(), nullptr);
  if (!made) return {};
  return SolvedCase(op, std::move(*made));
}

std::vector<OutputPair> outputs_of(const Op& op, const Relation& r, const SolvedCase& original, const SolvedCase& related) {
  std::vector<OutputPair> pairs;
  for (const TensorSpec& spec : op.tensors) {
    if (spec.role != Role::output) continue;
    const std::size_t k = pairs.size();
    const int output = static_cast<int>(k);
    OutputPair& p =
        pairs.emplace_back(original.problem->golden(output), related.problem->golden(output), std::span<const double>(),
                           std::span<const double>(), Sources(r, original.c.dims, related.c.dims, spec.axes));
    if (original.rounded.empty()) continue;
    p.rounded_original = original.rounded[k];
    p.rounded_related = related.rounded[k];
  }
  return pairs;
}

std::vector<Holds> how_it_holds(const Op& op, const Relation& r, const SolvedCase& original, const SolvedCase& related) {
  std::vector<Holds> holds;
  const std::vector<OutputPair> pairs = outputs_of(op, r, original, related);
  for (const TensorSpec& spec : op.tensors)
    if (spec.role == Role::output) holds.push_back(compared(pairs[holds.size()], r.scaling(spec.name)));
  return holds;
}

std::vector<Attributes> small_numbers(const Op& op, const Case& c) {
  struct Given {
    std::string name;
    double value;
    bool is_choice, is_whole;
  };
  std::vector<Given> given;
  std::set<double> sizes;  // of whole numbers
  for (const Attribute& a : op.attributes) {
    const auto at = c.attributes.find(std::string(a.name));
    if (at == c.attributes.end()) continue;
    given.push_back({at->first, at->second, !a.choices.empty(), at->second == std::floor(at->second)});
    if (given.back().is_whole && !given.back().is_choice && at->second != 0) sizes.insert(std::fabs(at->second));
  }
  std::vector<Attributes> kinds;
  for (const double least : {1.0, 2.0, 3.0}) {
    Attributes small;
    for (const Given& g : given) {
      const auto rank = static_cast<double>(std::distance(sizes.begin(), sizes.find(std::fabs(g.value))));
      small[g.name] = g.is_choice || g.value == 0 ? g.value : std::copysign(g.is_whole ? least + rank : 0.375, g.value);
    }
    if (kinds.empty() || small != kinds.back()) kinds.push_back(std::move(small));
  }
  return kinds;
}

std::deque<SolvedCase> small_cases(const Op& op, const Case& like) {
  std::deque<SolvedCase> cases;
  for (const Attributes& attributes : small_numbers(op, like)) add_cases(cases, op, attributes);
  if (cases.empty()) add_cases(cases, op, like.attributes);
  return cases;
}

}  // namespace assay
