// SPDX-License-Identifier: Apache-2.0
#include "reference/formula/scan.hpp"

#include <algorithm>
#include <bit>

namespace assay::formula {

Scan::Scan(const Values& outside, int scan)
    : outside_(outside),
      scan_(outside.graph().nodes[static_cast<std::size_t>(scan)]),
      along_(std::countr_zero(scan_.over)),
      steps_(outside.extents()[along_]) {
  const std::vector<Port>& results = body().outputs;
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (k >= states()) {
      results_.push_back({.value = for_all(k), .exact = true, .whole = true});
      continue;
    }
    const Known& first = outside[scan_.arguments[k]];
    results_.push_back(
        {.value = spread(outside.extents(), set_of(results[k].axes), first.value), .exact = first.exact, .whole = first.whole});
  }
}

const Graph& Scan::body() const { return outside_.graph().bodies[static_cast<std::size_t>(scan_.body)]; }

Field Scan::here(const Field& of_argument) const {
  Field field = pick(outside_.extents(), of_argument, along_, std::span(&step_, 1));
  field.axes &= ~scan_.over;
  return field;
}

std::vector<Known> Scan::given() const {
  std::vector<Known> given(results_.begin(), results_.begin() + static_cast<std::ptrdiff_t>(states()));
  for (std::size_t k = states(); k < scan_.arguments.size(); ++k) {
    const Known& argument = outside_[scan_.arguments[k]];
    given.push_back({.value = here(argument.value), .exact = argument.exact, .whole = argument.whole});
  }
  return given;
}

Field Scan::for_all(std::size_t output) const {
  return Field::unwritten(set_of(body().outputs[output].axes) | scan_.over, outside_.extents());
}

void Scan::put(Field& all, const Field& of_step) const {
  const Extents& e = outside_.extents();
  const Field from = spread(e, all.axes & ~scan_.over, of_step);
  const AxisSet below = all.axes & ~((AxisSet{2} << along_) - 1);
  const std::int64_t inner = e.size(below), outer = e.size(all.axes & ~below & ~scan_.over);
  double* const to = all.at.own() + step_ * inner;
  for (std::int64_t o = 0; o < outer; ++o) std::copy_n(from.at.data() + o * inner, inner, to + o * steps_ * inner);
}

void Scan::advance(const Values& step) {
  for (std::size_t k = 0; k < results_.size(); ++k) {
    const Port& port = body().outputs[k];
    const Known& of_step = step[port.node];
    Known& result = results_[k];
    if (k < states()) {
      result = {
          .value = spread(outside_.extents(), set_of(port.axes), of_step.value), .exact = of_step.exact, .whole = of_step.whole};
    } else {
      put(result.value, of_step.value);
      result.exact = result.exact && of_step.exact;
      result.whole = result.whole && of_step.whole;
    }
  }
  ++step_;
}

std::vector<Known> Scan::results() && { return std::move(results_); }

Values::Values(const Graph& body, std::vector<Known> given, const Part& part, const Interpretation* interpretation)
    : graph_(body), part_(part), given_(std::move(given)) {
  set_extents();
  for (int i = 0; i < static_cast<int>(body.nodes.size()); ++i)
    known_.push_back(std::make_shared<const Known>(interpretation ? interpretation->known(*this, i) : visit(i)));
}

const Known& Values::found(const Node& node) const {
  const auto number = static_cast<std::size_t>(node.number);
  return node.kind == Kind::given ? given_[number] : (*this)[node.arguments[0]].results[number];
}

std::vector<Known> Values::scanned(int i) const {
  Scan scan(*this, i);
  while (!scan.ended()) scan.advance(Values(scan.body(), scan.given(), part_));
  return std::move(scan).results();
}

}  // namespace assay::formula
