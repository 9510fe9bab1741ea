// SPDX-License-Identifier: Apache-2.0
#include "reference/formula/evaluate.hpp"

#include <malloc.h>
#include <omp.h>

#include <algorithm>
#include <exception>
#include <map>
#include <numeric>

#include "reference/formula/visit.hpp"

namespace assay::formula {
namespace cutting {  // Note: not without a name, since Parts::Plan has members of these types

// Elements of the largest array of a block: small enough for a core's cache.
constexpr std::int64_t kElements = 1 << 15;
// But products want some rows at once.
constexpr std::int64_t kFewest = 32, kMostElements = 1 << 19;
// Elements of all arrays together from which on several threads gain more than they cost.
constexpr std::int64_t kWorthThreads = 1 << 20;

// Arrays of a part come and go.  If their memory went back to the system each time, half the time would go to getting it again.
void keep_freed_memory() {
#ifdef __GLIBC__
  static const bool once = mallopt(M_MMAP_THRESHOLD, 1 << 30) && mallopt(M_TRIM_THRESHOLD, 1 << 30);
  (void)once;
#endif
}

// How a case is cut: parts that share what does not depend on the last of the axes that are cut.
struct Shared {
  Part outer;                       // one position of each axis but the last
  std::vector<std::int64_t> inner;  // the positions along the last
};

std::vector<Shared> plan(const Graph& graph, std::span<const int> cut, const Rows& rows) {
  const Extents e(graph);
  const std::span<const int> outer = cut.first(cut.size() - 1);
  const int last = cut.back();
  std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> found;
  const std::vector<int>& axes = graph.outputs[0].axes;
  if (rows.all() || axes.size() < 2) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(e[last]));
    std::iota(all.begin(), all.end(), 0);
    for (std::int64_t k = 0; k < e.size(set_of(outer)); ++k) found[index_of(k, outer, e)] = all;
  } else {
    const std::span<const int> of_rows(axes.data(), axes.size() - 1);
    for (std::int64_t k = 0; k < rows.count(); ++k) {
      const std::vector<std::int64_t> index = index_of(rows[k], of_rows, e);
      const auto along = [&](int axis) {
        return index[static_cast<std::size_t>(std::ranges::find(of_rows, axis) - of_rows.begin())];
      };
      std::vector<std::int64_t> key;
      for (const int axis : outer) key.push_back(along(axis));
      found[key].push_back(along(last));
    }
  }
  std::vector<Shared> list;
  for (auto& [key, inner] : found) {
    std::sort(inner.begin(), inner.end());
    inner.erase(std::unique(inner.begin(), inner.end()), inner.end());
    Shared shared{{}, std::move(inner)};
    for (std::size_t d = 0; d < key.size(); ++d) shared.outer[outer[d]] = {key[d]};
    list.push_back(std::move(shared));
  }
  return list;
}

// Runs pieces of work on threads, out of which no exception may go: the first is thrown when all have ended.
class Caught {
 public:
  template <class Work>
  void run(Work&& work) {
    try {
      work();
    } catch (...) {
#pragma omp critical(caught)
      if (!first_) first_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

// Axes along which conditions hide what no result depends on, and the conditions' own graph, whose outputs they are.
class Hiding {
 public:
  Hiding(const Graph& graph, std::span<const Tensor> tensors) {
    for (const Node& n : graph.nodes)
      if (n.over && condition_of(graph, n) >= 0 && hides(graph, n)) add(graph, n);
    if (conditions_.empty()) return;
    std::vector<Port> outputs;
    for (const int condition : conditions_)
      outputs.push_back(
          {.name = "seen", .axes = list_of(graph.nodes[static_cast<std::size_t>(condition)].axes), .node = condition});
    graph_ = only(graph, std::move(outputs), false);
    for (const Port& p : graph_.inputs)
      for (std::size_t i = 0; i < graph.inputs.size(); ++i)
        if (graph.inputs[i].name == p.name) tensors_.push_back(tensors[i]);
  }

  // Leaves of a part only the positions at which anything is seen.
  void narrow(Part& part) const {
    if (conditions_.empty()) return;
    const Values values(graph_, tensors_, part);
    for (const int axis : list_of(axes_)) {
      std::vector<bool> seen(static_cast<std::size_t>(values.extents()[axis]), false);
      for (const Port& p : graph_.outputs) {
        const Field& condition = values[p.node].value;
        const Field any = max_over(values.extents(), condition.axes & ~(AxisSet{1} << axis), condition);
        for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = seen[i] || any.at[any.axes ? i : 0] != 0;
      }
      std::vector<std::int64_t> positions;
      for (std::size_t i = 0; i < seen.size(); ++i)
        if (seen[i]) positions.push_back(static_cast<std::int64_t>(i));
      if (positions.empty() && !seen.empty()) positions.push_back(0);
      if (positions.size() < seen.size()) part[axis] = std::move(positions);
    }
  }

 private:
  // Whether everything along these axes is hidden by one condition: other reductions along them are of the same argument, or
  // means by its weights.
  static bool hides(const Graph& graph, const Node& row_function) {
    const AxisSet axes = row_function.over;
    for (const Graph& body : graph.bodies)
      if (is_used(body, axes)) return false;
    for (const Node& n : graph.nodes) {
      if (!(works_along(graph, n) & axes)) continue;
      if (n.kind == Kind::take || n.kind == Kind::put || n.kind == Kind::scan) return false;
      const Mean mean = mean_of(graph, n);
      const Node& of = mean.weights < 0 ? n : graph.nodes[static_cast<std::size_t>(mean.weights)];
      const bool of_rows = of.kind == Kind::max || of.kind == Kind::logsumexp || info(of.kind).group == Group::row_function;
      if (!of_rows || of.over != axes || of.arguments != row_function.arguments) return false;
    }
    return std::ranges::none_of(graph.outputs, [&](const Port& output) { return (set_of(output.axes) & axes) != 0; });
  }

  static bool is_used(const Graph& graph, AxisSet axes) {
    bool found = false;
    each_node(graph, [&](const Visited& v) { found = found || (works_along(v.graph, v.node) & axes); });
    return found;
  }

  void add(const Graph& graph, const Node& row_function) {
    axes_ |= row_function.over;
    const int condition = condition_of(graph, row_function);
    if (std::find(conditions_.begin(), conditions_.end(), condition) == conditions_.end()) conditions_.push_back(condition);
  }

  AxisSet axes_ = 0;
  std::vector<int> conditions_;
  Graph graph_;
  std::vector<Tensor> tensors_;
};

}  // namespace cutting
using namespace cutting;

std::vector<int> cut_axes(const Graph& graph) {
  if (graph.outputs.empty()) return {};
  AxisSet free = ~AxisSet{0};
  for (const Port& output : graph.outputs) free &= set_of(output.axes);
  each_node(graph, [&](const Visited& v) { free &= ~works_along(v.graph, v.node); });
  const std::vector<int>& axes = graph.outputs[0].axes;
  std::vector<int> candidates;
  for (std::size_t d = 0; d < axes.size() && (d + 1 < axes.size() || d == 0); ++d)
    if (free >> axes[d] & 1) candidates.push_back(axes[d]);
  if (candidates.empty()) return {};

  // Last comes the longest, so that what does not have it is computed the fewest times.
  const auto extent = [&](int axis) { return graph.extents[static_cast<std::size_t>(axis)]; };
  const int last = *std::max_element(candidates.begin(), candidates.end(), [&](int a, int b) { return extent(a) < extent(b); });
  std::vector<int> cut = {last};
  for (const int axis : candidates) {
    if (axis == last) continue;
    std::int64_t widest = 1;
    each_node(graph, [&](const Visited& v) { widest = std::max(widest, graph.size(v.node.axes & ~set_of(cut))); });
    if (widest <= kElements) break;
    cut.insert(cut.end() - 1, axis);
  }
  return cut;
}

namespace {
// Elements of the largest array for one position of some axes.
std::int64_t widest_of_position(const Graph& graph, AxisSet cut) {
  std::int64_t widest = 1;
  each_node(graph, [&](const Visited& v) { widest = std::max(widest, graph.size(v.node.axes & ~cut)); });
  return widest;
}
}  // namespace

std::int64_t positions_of_part(const Graph& graph, const std::vector<int>& cut) {
  std::int64_t widest = 1;  // elements of the largest array that has the last of them, for one position
  each_node(graph, [&](const Visited& v) {
    if (v.node.axes >> cut.back() & 1) widest = std::max(widest, graph.size(v.node.axes & ~set_of(cut)));
  });
  return std::max({std::int64_t{1}, kElements / widest, std::min(kFewest, kMostElements / widest)});
}

std::vector<Together> groups_of(const Graph& graph) {
  const auto together = [&](const std::vector<std::size_t>& outputs) {
    std::vector<Port> ports;
    for (const std::size_t o : outputs) ports.push_back(graph.outputs[o]);
    Together group{only(graph, std::move(ports), false), outputs, {}};
    for (const Port& p : group.graph.inputs)
      for (std::size_t i = 0; i < graph.inputs.size(); ++i)
        if (graph.inputs[i].name == p.name) group.inputs.push_back(i);
    return group;
  };
  std::vector<std::size_t> all(graph.outputs.size());
  std::iota(all.begin(), all.end(), 0);
  const std::int64_t widest = widest_of_position(graph, set_of(cut_axes(graph)));
  if (widest <= kMostElements) return {together(all)};
  std::map<AxisSet, std::vector<std::size_t>> by_cut;
  for (const std::size_t o : all) by_cut[set_of(cut_axes(together({o}).graph))].push_back(o);
  std::vector<Together> groups;
  for (const auto& [cut, outputs] : by_cut) {
    groups.push_back(together(outputs));
    if (widest_of_position(groups.back().graph, set_of(cut_axes(groups.back().graph))) >= widest) return {together(all)};
  }
  return groups;
}

struct Parts::Plan {
  Together group;
  std::vector<Tensor> tensors;
  Hiding hiding;
  std::vector<int> cut;
  std::vector<Shared> groups;
  std::int64_t each = 1;  // positions of the last axis that is cut, in one part
  bool large = false;     // enough for threads
  Need need;

  Plan(Together of, std::vector<Tensor> inputs, const RowsOf& rows_of, Need what)
      : group(std::move(of)), tensors(std::move(inputs)), hiding(group.graph, tensors), cut(cut_axes(group.graph)), need(what) {
    if (cut.empty()) return;
    const Graph& graph = group.graph;
    groups = plan(graph, cut, rows_of(group.outputs.front()));
    std::int64_t elements = 0;
    each_node(graph, [&](const Visited& v) { elements += static_cast<std::int64_t>(v.times) * graph.size(v.node.axes); });
    each = positions_of_part(graph, cut);
    large = elements >= kWorthThreads;
  }
  void visit(const std::function<void(const PartOf&)>& visit) const;
};

Parts::Parts(const Graph& graph, std::span<const Tensor> tensors, const RowsOf& rows_of, Need need) {
  keep_freed_memory();
  for (Together& group : groups_of(graph)) {
    std::vector<Tensor> inputs;
    for (const std::size_t i : group.inputs) inputs.push_back(tensors[i]);
    plans_.push_back(std::make_unique<const Plan>(std::move(group), std::move(inputs), rows_of, need));
  }
}
Parts::~Parts() = default;

void Parts::Plan::visit(const std::function<void(const PartOf&)>& visit) const {
  const Graph& graph = group.graph;
  if (cut.empty()) return visit({std::make_shared<const Values>(graph, tensors, Part{}, nullptr, need), group.outputs});
  const int last = cut.back();
  const bool many = static_cast<std::int64_t>(groups.size()) >= omp_get_max_threads();
  Caught caught;
  const auto of_group = [&](const Shared& shared) {
    const Values common = Values::without(last, graph, tensors, shared.outer, need);
    const auto positions = static_cast<std::int64_t>(shared.inner.size());
#pragma omp parallel for schedule(dynamic) if (large && !many)
    for (std::int64_t first = 0; first < positions; first += each)
      caught.run([&] {
        Part part = shared.outer;
        part[last] = {shared.inner.begin() + first, shared.inner.begin() + std::min(first + each, positions)};
        hiding.narrow(part);
        visit({std::make_shared<const Values>(graph, tensors, std::move(part), &common, need), group.outputs});
      });
  };
#pragma omp parallel for schedule(dynamic) if (large && many)
  for (std::size_t k = 0; k < groups.size(); ++k) caught.run([&] { of_group(groups[k]); });
  caught.rethrow();
}

void Parts::visit(const std::function<void(const PartOf&)>& visit) const {
  for (const auto& plan : plans_) plan->visit(visit);
}

std::vector<PartOf> Parts::all() const {
  std::vector<PartOf> list;
  visit([&](const PartOf& part) {
#pragma omp critical(parts)
    list.push_back(part);
  });
  return list;
}

void place(const Values& part, const Port& output, const std::vector<double>& from, std::span<double> to) {
  Places places = places_in(output.axes, Extents(part.graph()));
  for (const auto& [axis, positions] : part.part()) {
    std::vector<std::int64_t>& along = places[static_cast<std::size_t>(axis)];
    if (along.empty()) continue;
    std::vector<std::int64_t> at;
    for (const std::int64_t position : positions) at.push_back(along[static_cast<std::size_t>(position)]);
    along = std::move(at);
  }
  walk(output.axes, part.extents(), places, [&](std::size_t k, std::size_t at) { to[at] = from[k]; });
}

Rows rows_of_output(const Graph& graph, std::size_t output, const Rows& rows, const RowOf& row_of) {
  if (rows.all() || output == 0) return rows;
  const Port& port = graph.outputs[output];
  const std::int64_t elements = graph.size(set_of(port.axes));
  const std::int64_t last = port.axes.empty() ? 1 : graph.extents[static_cast<std::size_t>(port.axes.back())];
  Rows own{.total = last ? elements / last : 0};
  for (std::int64_t row = 0; row < own.total; ++row) {
    bool asked = !row_of && rows.has(of_own_row(rows, row));
    for (std::int64_t i = row * last; row_of && i < (row + 1) * last && !asked; ++i) asked = rows.has(row_of(i));
    if (asked) own.sample.push_back(row);
  }
  if (own.sample.empty() && own.total > 0) own.sample.push_back(0);  // an empty sample would be all
  return own;
}

}  // namespace assay::formula
