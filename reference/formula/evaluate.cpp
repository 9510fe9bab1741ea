// SPDX-License-Identifier: Apache-2.0
#include "reference/formula/evaluate.hpp"

#include <algorithm>

namespace assay::formula {
namespace {

// Elements of the largest array of a block: small enough for a core's cache.
constexpr std::int64_t kElements = 1 << 15;

// Writes a part's elements of an output to their places in the whole.
void place(const Graph& graph, const Extents& part_extents, const Port& output, const Part& part, const std::vector<double>& from,
           std::vector<double>& to) {
  Extents whole;
  for (const int axis : output.axes) whole.of[static_cast<std::size_t>(axis)] = graph.extents[static_cast<std::size_t>(axis)];
  Places places = places_in(output.axes, whole);
  if (part.axis >= 0) {
    std::vector<std::int64_t>& along = places[static_cast<std::size_t>(part.axis)];
    std::vector<std::int64_t> of_part;
    for (const std::int64_t position : part.positions) of_part.push_back(along[static_cast<std::size_t>(position)]);
    along = std::move(of_part);
  }
  walk(output.axes, part_extents, places, [&](std::size_t k, std::size_t at) { to[at] = from[k]; });
}

// The positions of an axis that rows of the first output touch.
std::vector<std::int64_t> positions_of(const Graph& graph, int axis, const Rows& rows) {
  std::vector<std::int64_t> positions;
  const std::int64_t extent = graph.extents[static_cast<std::size_t>(axis)];
  const std::vector<int>& axes = graph.outputs[0].axes;
  std::int64_t below = 1;  // rows from one position to the next
  bool found = false;
  for (std::size_t d = axes.size(); d-- > 0;) {
    if (axes[d] == axis) {
      found = d + 1 < axes.size();
      break;
    }
    if (d + 1 < axes.size()) below *= graph.extents[static_cast<std::size_t>(axes[d])];
  }
  if (rows.all() || !found) {
    for (std::int64_t i = 0; i < extent; ++i) positions.push_back(i);
    return positions;
  }
  for (std::int64_t k = 0; k < rows.count(); ++k) positions.push_back(rows[k] / below % extent);
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

}  // namespace

int block_axis(const Graph& graph) {
  AxisSet free = ~AxisSet{0};
  for (const Port& output : graph.outputs) {
    AxisSet axes = 0;
    for (const int axis : output.axes) axes |= AxisSet{1} << axis;
    free &= axes;
  }
  for (const Node& node : graph.nodes) free &= ~node.over;
  if (graph.outputs.empty() || !free) return -1;
  for (const int axis : graph.outputs[0].axes)  // the outermost, whose blocks are contiguous
    if (free >> axis & 1) return axis;
  return -1;
}

std::vector<Answer> evaluate(const Graph& graph, std::span<const Tensor> tensors, const Rows& rows,
                             std::span<const Declared> declared) {
  std::vector<Answer> answers(graph.outputs.size());
  for (std::size_t o = 0; o < answers.size(); ++o) {
    std::size_t size = 1;
    for (const int axis : graph.outputs[o].axes) size *= static_cast<std::size_t>(graph.extents[static_cast<std::size_t>(axis)]);
    answers[o].values.resize(size);
    answers[o].errors.assign(declared.size(), std::vector<double>(size));
  }
  const int axis = block_axis(graph);
  std::vector<Part> parts;
  if (axis < 0) {
    parts.emplace_back();
  } else {
    std::int64_t widest = 1;  // elements of the largest array for one position
    for (const Node& node : graph.nodes)
      if (node.axes >> axis & 1) widest = std::max(widest, graph.size(node.axes & ~(AxisSet{1} << axis)));
    const std::vector<std::int64_t> positions = positions_of(graph, axis, rows);
    const auto each = static_cast<std::size_t>(std::max<std::int64_t>(1, kElements / widest));
    for (std::size_t first = 0; first < positions.size(); first += each)
      parts.push_back({axis,
                       {positions.begin() + static_cast<std::ptrdiff_t>(first),
                        positions.begin() + static_cast<std::ptrdiff_t>(std::min(first + each, positions.size()))}});
  }
  if (parts.empty()) return answers;

  const auto finish = [&](const Values& values, const Part& part) {
    for (std::size_t o = 0; o < answers.size(); ++o)
      place(graph, values.extents(), graph.outputs[o], part, values.output(o), answers[o].values);
    for (std::size_t k = 0; k < declared.size(); ++k) {
      const Tracked tracked(values, declared[k]);
      for (std::size_t o = 0; o < answers.size(); ++o)
        place(graph, values.extents(), graph.outputs[o], part, tracked.output(o), answers[o].errors[k]);
    }
  };
  const Values first(graph, tensors, parts[0]);
  finish(first, parts[0]);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t p = 1; p < parts.size(); ++p) finish(Values(graph, tensors, parts[p], &first), parts[p]);
  return answers;
}

}  // namespace assay::formula
