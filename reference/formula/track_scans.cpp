// SPDX-License-Identifier: Apache-2.0
// The rule of recurrences (track.hpp): one step after the other, each by the rules of its nodes.
//
// A state brings its error into the next step: `any`, and `fresh`, since elements of one state err independently of each other
// still.  What elements of a state share within a step counts as `any` after it.  An element that is put out at one step errs
// with the states of those before, so all that is put out counts as `any`.
//
// Each step bounds an error by magnitudes, element by element.  So a state that shrinks element by element forgets errors as it
// forgets values; one that a matrix turns may grow its bound from step to step though its error does not.
//
// A result of a step beyond the range of the accumulator is infinite in a kernel, and what follows from it infinite or NaN, even
// where that in f64 returns to the range.
//
// This is a kernel that takes one step after the other.  One that takes several at once, as products of chunks, rounds what no
// step has.  It has no rule yet (has_rules).
#include "reference/formula/scan.hpp"
#include "reference/formula/track.hpp"

namespace assay::formula {

std::vector<Off> Tracked::scanned(int i) {
  Scan scan(values_, i);
  const std::vector<int>& arguments = node(i).arguments;
  const std::vector<Port>& ports = scan.body().outputs;
  // Of a state: elements that are repeated share their error.
  const auto of_state = [&](const Tracked& in, int node, std::size_t k) {
    return in.node(node).axes == set_of(ports[k].axes) ? in.alone(node) : Off{.any = in.total(node), .fresh = {}};
  };
  std::vector<Off> of_arguments, results;
  std::vector<Field> put_out;  // from the first step on that overflows
  for (const int argument : arguments) of_arguments.push_back(alone(argument));
  for (std::size_t k = 0; k < ports.size(); ++k)
    results.push_back(k < scan.states() ? of_state(*this, arguments[k], k) : Off{.any = scan.for_all(k), .fresh = {}});
  while (!scan.ended()) {
    std::vector<Off> given(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(scan.states()));
    for (std::size_t k = scan.states(); k < arguments.size(); ++k) {
      const Off& off = of_arguments[k];
      given.push_back({scan.here(off.any), scan.here(off.fresh), off.k});
    }
    const Values values(scan.body(), scan.given(), values_.part());
    const Tracked step(values, declared_, std::move(given));
    if (put_out.empty() && step.overflows())
      for (const Off& off : results) put_out.push_back(off.any);
    for (std::size_t k = 0; k < ports.size(); ++k) {
      const int node = ports[k].node;
      if (k < scan.states()) results[k] = of_state(step, node, k);
      else scan.put(results[k].any, step.total(node));
      if (put_out.empty()) continue;
      if (k < scan.states()) put_out[k] = step.total_put_out(node);
      else scan.put(put_out[k], step.total_put_out(node));
    }
    scan.advance(values);
  }
  if (!put_out.empty()) put_out_of_scans_[i] = std::move(put_out);
  return results;
}

}  // namespace assay::formula
