// SPDX-License-Identifier: Apache-2.0
// A formula's values and bounds for a whole case, in blocks of rows, so that memory is that of a block for each thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ops/core/rows.hpp"
#include "reference/formula/track.hpp"

namespace assay::formula {

// Outputs that are evaluated together, and the part of a graph that computes them.
struct Together {
  Graph graph;
  std::vector<std::size_t> outputs, inputs;  // which of the whole graph's they are
};
// All outputs at once, or where that makes large arrays and less than all would not, those that can be cut along the same axes.
std::vector<Together> groups_of(const Graph& graph);

// Which rows of an output are asked for: indices of all its axes but the last.
using RowsOf = std::function<Rows(std::size_t output)>;
// Of the rows that are asked for, which are the first output's, those of another output.  `row_of` says to which row of the first
// output an element belongs; null: to that with the number of its own row.
using RowOf = std::function<std::int64_t(std::int64_t element)>;
Rows rows_of_output(const Graph& graph, std::size_t output, const Rows& rows, const RowOf& row_of);

// The axes along which a graph is cut, outermost first: every output has them, and no node needs more than one of their
// positions. As many as make a position's arrays small, and at least one if there is any.
std::vector<int> cut_axes(const Graph& graph);

// How many positions of the last of these axes a part has.
std::int64_t positions_of_part(const Graph& graph, const std::vector<int>& cut);

// Values of a part of a case, and which outputs of the whole graph its graph has.
struct PartOf {
  std::shared_ptr<const Values> values;
  std::span<const std::size_t> outputs;
};

// The parts of a case in which the answers of some rows are evaluated.  `graph` and `tensors`, its inputs in their order, must
// outlive this.
class Parts {
 public:
  Parts(const Graph& graph, std::span<const Tensor> tensors, const RowsOf& rows_of, Need need = Need::bounds);
  ~Parts();
  // Calls visit with each part, on several threads where the case is large.
  void visit(const std::function<void(const PartOf&)>& visit) const;
  // All parts.  This must outlive them.
  std::vector<PartOf> all() const;

 private:
  struct Plan;
  std::vector<std::unique_ptr<const Plan>> plans_;
};

// Writes a part's elements of an output to their places in the whole.
void place(const Values& part, const Port& output, const std::vector<double>& from, std::span<double> to);

}  // namespace assay::formula
