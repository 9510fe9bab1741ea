// SPDX-License-Identifier: Apache-2.0
#include "reference/formula/evaluate.hpp"

#include <malloc.h>
#include <omp.h>

#include <algorithm>
#include <exception>
#include <map>
#include <numeric>

namespace assay::formula {
namespace {

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

// Writes a part's elements of an output to their places in the whole.
void place(const Graph& graph, const Extents& part_extents, const Port& output, const Part& part, const std::vector<double>& from,
           std::vector<double>& to) {
  Places places = places_in(output.axes, Extents(graph));
  for (const auto& [axis, positions] : part) {
    std::vector<std::int64_t>& along = places[static_cast<std::size_t>(axis)];
    if (along.empty()) continue;
    std::vector<std::int64_t> of_part;
    for (const std::int64_t position : positions) of_part.push_back(along[static_cast<std::size_t>(position)]);
    along = std::move(of_part);
  }
  walk(output.axes, part_extents, places, [&](std::size_t k, std::size_t at) { to[at] = from[k]; });
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
    for (const Node& n : graph.nodes) {
      if (!(n.over & axes)) continue;
      if (n.kind == Kind::take) return false;
      const Mean mean = mean_of(graph, n);
      const Node& of = mean.weights < 0 ? n : graph.nodes[static_cast<std::size_t>(mean.weights)];
      const bool of_rows = of.kind == Kind::max || of.kind == Kind::logsumexp || info(of.kind).group == Group::row_function;
      if (!of_rows || of.over != axes || of.arguments != row_function.arguments) return false;
    }
    return std::ranges::none_of(graph.outputs, [&](const Port& output) { return (set_of(output.axes) & axes) != 0; });
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

// Evaluates the parts of a plan, and writes what they give to the whole.
class Evaluation {
 public:
  Evaluation(const Graph& graph, std::span<const Tensor> tensors, std::span<const Declared> declared)
      : graph_(graph), tensors_(tensors), declared_(declared), hiding_(graph, tensors) {
    answers_.resize(graph.outputs.size());
    for (std::size_t o = 0; o < answers_.size(); ++o) {
      const auto size = static_cast<std::size_t>(graph.size(set_of(graph.outputs[o].axes)));
      answers_[o].values.resize(size);
      answers_[o].errors.assign(declared.size(), std::vector<double>(size));
    }
  }

  std::vector<Answer> answer(const Rows& rows) {
    const std::vector<int> cut = cut_axes(graph_);
    if (cut.empty()) {
      finish(Values(graph_, tensors_), {});
      return std::move(answers_);
    }
    const std::vector<Shared> groups = plan(graph_, cut, rows);
    std::int64_t widest = 1;  // elements of the largest array for one position
    for (const Node& node : graph_.nodes)
      if (node.axes >> cut.back() & 1) widest = std::max(widest, graph_.size(node.axes & ~set_of(cut)));
    const std::int64_t each = std::max({std::int64_t{1}, kElements / widest, std::min(kFewest, kMostElements / widest)});
    std::int64_t elements = 0;
    for (const Node& node : graph_.nodes) elements += graph_.size(node.axes);
    const bool large = elements >= kWorthThreads, many = static_cast<std::int64_t>(groups.size()) >= omp_get_max_threads();
    Caught caught;
#pragma omp parallel for schedule(dynamic) if (large && many)
    for (std::size_t k = 0; k < groups.size(); ++k) caught.run([&] { of_group(groups[k], cut.back(), each, large && !many); });
    caught.rethrow();
    return std::move(answers_);
  }

 private:
  void of_group(const Shared& group, int last, std::int64_t each, bool alone) {
    const Values common = Values::without(last, graph_, tensors_, group.outer);
    const auto count = (static_cast<std::int64_t>(group.inner.size()) + each - 1) / each;
    Caught caught;
#pragma omp parallel for schedule(dynamic) if (alone)
    for (std::int64_t k = 0; k < count; ++k)
      caught.run([&] {
        Part part = group.outer;
        const auto end = std::min((k + 1) * each, static_cast<std::int64_t>(group.inner.size()));
        part[last] = {group.inner.begin() + k * each, group.inner.begin() + end};
        hiding_.narrow(part);
        finish(Values(graph_, tensors_, part, &common), part);
      });
    caught.rethrow();
  }

  void finish(const Values& values, const Part& part) {
    for (std::size_t o = 0; o < answers_.size(); ++o)
      place(graph_, values.extents(), graph_.outputs[o], part, values.output(o), answers_[o].values);
    for (std::size_t k = 0; k < declared_.size(); ++k) {
      const Tracked tracked(values, declared_[k]);
      for (std::size_t o = 0; o < answers_.size(); ++o)
        place(graph_, values.extents(), graph_.outputs[o], part, tracked.output(o), answers_[o].errors[k]);
    }
  }

  const Graph& graph_;
  std::span<const Tensor> tensors_;
  std::span<const Declared> declared_;
  Hiding hiding_;
  std::vector<Answer> answers_;
};

}  // namespace

std::vector<int> cut_axes(const Graph& graph) {
  if (graph.outputs.empty()) return {};
  AxisSet free = ~AxisSet{0};
  for (const Port& output : graph.outputs) free &= set_of(output.axes);
  for (const Node& node : graph.nodes) free &= ~node.over;
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
    for (const Node& node : graph.nodes) widest = std::max(widest, graph.size(node.axes & ~set_of(cut)));
    if (widest <= kElements) break;
    cut.insert(cut.end() - 1, axis);
  }
  return cut;
}

std::vector<Answer> evaluate(const Graph& graph, std::span<const Tensor> tensors, const Rows& rows,
                             std::span<const Declared> declared) {
  keep_freed_memory();
  return Evaluation(graph, tensors, declared).answer(rows);
}

}  // namespace assay::formula
