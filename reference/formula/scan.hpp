// SPDX-License-Identifier: Apache-2.0
// A walk through the steps of a scan: the values that each step is given, and those that it leaves.
#pragma once

#include <vector>

#include "reference/formula/values.hpp"

namespace assay::formula {

class Scan {
 public:
  // `outside` has the values of the graph in which node `scan` is.  It must outlive this.
  Scan(const Values& outside, int scan);

  const Graph& body() const;
  bool ended() const { return step_ == steps_; }
  // What the next step is given: the states before it, then the scan's other arguments at its position.
  std::vector<Known> given() const;
  // Goes on to the next, with the states after this step and what it puts out.
  void advance(const Values& step);
  // The last states, then what all steps put out.
  std::vector<Known> results() &&;

  std::size_t states() const { return static_cast<std::size_t>(scan_.number); }
  // A field of an argument's at the next step.
  Field here(const Field& of_argument) const;
  // Writes a field of what a step puts out to the step's place among all.
  void put(Field& all, const Field& of_step) const;
  // An array for what all steps put out.
  Field for_all(std::size_t output) const;

 private:
  const Values& outside_;
  const Node& scan_;
  int along_;
  std::int64_t steps_, step_ = 0;
  std::vector<Known> results_;
};

}  // namespace assay::formula
