// SPDX-License-Identifier: Apache-2.0
// What is read from tensors, and from other arrays at given places (values.hpp).
#include <algorithm>
#include <bit>
#include <cmath>

#include "reference/core/load.hpp"
#include "reference/formula/values.hpp"
#include "reference/formula/visit.hpp"

namespace assay::formula {
namespace {

// Writes the elements of a tensor at these places, row-major.
void read(const Tensor& t, std::span<const int> axes, const Extents& e, const Places& places, double* to) {
  if (axes.empty()) {
    *to = decode(t.dtype, t.data, 0);
    return;
  }
  const std::vector<std::int64_t>& along = places[static_cast<std::size_t>(axes.back())];
  if (along.empty()) return;
  const auto count = static_cast<std::int64_t>(along.size());
  const std::int64_t step = count > 1 ? along[1] - along[0] : 1;
  bool even = true;
  for (std::size_t i = 1; i < along.size(); ++i) even = even && along[i] - along[i - 1] == step;
  walk(axes.first(axes.size() - 1), e, places, [&](std::size_t row, std::size_t at) {
    const auto from = static_cast<std::int64_t>(at);
    double* const out = to + static_cast<std::int64_t>(row) * count;
    if (even) reference::detail::decode_run(t, from + along[0], step, count, out);
    else
      for (std::int64_t i = 0; i < count; ++i) out[i] = decode(t.dtype, t.data, from + along[static_cast<std::size_t>(i)]);
  });
}

}  // namespace

std::int64_t Values::position(int axis, std::int64_t i) const {
  const auto at = part_.find(axis);
  return at == part_.end() ? i : at->second[static_cast<std::size_t>(i)];
}

Field Values::load(const Port& input) const {
  const Tensor& t = tensors_[static_cast<std::size_t>(&input - graph_.inputs.data())];
  Places places;
  for (std::size_t d = 0; d < input.axes.size(); ++d) {
    const int axis = input.axes[d];
    std::vector<std::int64_t>& along = places[static_cast<std::size_t>(axis)];
    along.reserve(static_cast<std::size_t>(extents_[axis]));
    for (std::int64_t i = 0; i < extents_[axis]; ++i) along.push_back(t.stride[d] * position(axis, i));
  }
  Field out = Field::unwritten(graph_.nodes[static_cast<std::size_t>(input.node)].axes, extents_);
  read(t, list_of(out.axes), extents_, places, out.at.own());
  return out;
}

// The elements whose places along one axis are given.
Field Values::load_at(const Port& input, int along, const Field& places) const {
  const Tensor& t = tensors_[static_cast<std::size_t>(&input - graph_.inputs.data())];
  Places in_tensor;
  AxisSet axes = places.axes;
  std::int64_t stride = 0;
  for (std::size_t d = 0; d < input.axes.size(); ++d) {
    const int axis = input.axes[d];
    if (axis == along) {
      stride = t.stride[d];
      continue;
    }
    axes |= AxisSet{1} << axis;
    for (std::int64_t i = 0; i < extents_[axis]; ++i)
      in_tensor[static_cast<std::size_t>(axis)].push_back(t.stride[d] * position(axis, i));
  }
  Field out = Field::unwritten(axes, extents_);
  double* const to = out.at.own();
  if (std::has_single_bit(places.axes) && in_tensor[static_cast<std::size_t>(std::countr_zero(places.axes))].empty()) {
    auto& in_place = in_tensor[static_cast<std::size_t>(std::countr_zero(places.axes))];
    for (const double place : places.at) in_place.push_back(stride * static_cast<std::int64_t>(place));
    read(t, list_of(axes), extents_, in_tensor, to);
    return out;
  }
  // Places that depend on several axes, or on one that the tensor has too.
  for (const int axis : list_of(places.axes))
    if (in_tensor[static_cast<std::size_t>(axis)].empty())
      in_tensor[static_cast<std::size_t>(axis)].assign(static_cast<std::size_t>(extents_[axis]), 0);
  const Field whole = spread(extents_, axes, places);
  walk(list_of(axes), extents_, in_tensor, [&](std::size_t k, std::size_t at) {
    to[k] = decode(t.dtype, t.data, static_cast<std::int64_t>(at) + stride * static_cast<std::int64_t>(whole.at[k]));
  });
  return out;
}

// The tensor of an input that is only taken from, so that what is not taken is not read.
const Port* Values::read_where_taken(int i) const {
  if (graph_.nodes[static_cast<std::size_t>(i)].kind != Kind::input) return nullptr;
  for (const Node& n : graph_.nodes)
    for (std::size_t k = 0; k < n.arguments.size(); ++k)
      if (n.arguments[k] == i && (n.kind != Kind::take || k != 0)) return nullptr;
  for (const Port& output : graph_.outputs)
    if (output.node == i) return nullptr;
  const auto port = std::find_if(graph_.inputs.begin(), graph_.inputs.end(), [i](const Port& p) { return p.node == i; });
  return port == graph_.inputs.end() ? nullptr : &*port;
}

Field Values::take(const Node& node) const {
  const int axis = std::countr_zero(node.over);
  const Field& places = (*this)[node.arguments[1]].value;
  const auto extent = static_cast<double>(graph_.extents[static_cast<std::size_t>(axis)]);
  for (const double place : places.at)
    if (!(place >= 0 && place < extent))
      throw FormulaError("a place along '" + graph_.axis_names[static_cast<std::size_t>(axis)] + "' that is not there is taken");
  if (const Port* input = read_where_taken(node.arguments[0])) return load_at(*input, axis, places);
  return taken(node, (*this)[node.arguments[0]].value);
}

Field Values::taken(const Node& node, const Field& from) const {
  if (!(from.axes & node.over)) return from;
  const int along = std::countr_zero(node.over);
  const Places in_order = places_in(list_of(from.axes), extents_);
  const std::vector<std::int64_t>& of_axis_taken = in_order[static_cast<std::size_t>(along)];
  Field offsets = map(
      extents_, [&](double place) { return static_cast<double>(of_axis_taken[static_cast<std::size_t>(place)]); },
      (*this)[node.arguments[1]].value);
  for (const int axis : list_of(from.axes & ~node.over)) {
    const auto& of_axis = in_order[static_cast<std::size_t>(axis)];
    offsets = plus(extents_, offsets, Field{AxisSet{1} << axis, {of_axis.begin(), of_axis.end()}});
  }
  return map(
      extents_, [elements = from.at.data()](double at) { return elements[static_cast<std::size_t>(at)]; }, offsets);
}

Field Values::put(const Node& node, const Field& from) const {
  if (from.none()) return from;
  const AxisSet kept = from.axes & ~node.over, to = put_along(graph_, node);
  const int along = std::countr_zero(to);
  const Places in_order = places_in(list_of(kept | to), extents_);
  const std::vector<std::int64_t>& of_axis = in_order[static_cast<std::size_t>(along)];
  // Where each element goes; -1: nowhere.
  Field offsets = map(
      extents_,
      [&](double place) {
        const bool is_there = place >= 0 && place < static_cast<double>(of_axis.size());
        return is_there ? static_cast<double>(of_axis[static_cast<std::size_t>(place)]) : -kInfinity;
      },
      (*this)[node.arguments[1]].value);
  for (const int axis : list_of(kept)) {
    const auto& of_kept = in_order[static_cast<std::size_t>(axis)];
    offsets = plus(extents_, offsets, Field{AxisSet{1} << axis, {of_kept.begin(), of_kept.end()}});
  }
  offsets = spread(extents_, kept | node.over, offsets);
  const Field elements = spread(extents_, offsets.axes, from);
  Field out = Field::like(kept | to, extents_, 0);
  std::vector<bool> is_taken(out.at.size());
  double* const written = out.at.own();
  for (std::size_t k = 0; k < elements.at.size(); ++k) {
    if (offsets.at[k] < 0) continue;
    const auto at = static_cast<std::size_t>(offsets.at[k]);
    if (is_taken[at])
      throw FormulaError("two elements are put to one place along '" + graph_.axis_names[static_cast<std::size_t>(along)] + "'");
    is_taken[at] = true;
    written[at] = elements.at[k];
  }
  return out;
}

namespace {
// A factor `where(condition, x, 0)` of a product, and the other one; -1: none.
Mean hidden_by_zeros(const Graph& graph, const Node& dot) {
  for (std::size_t k = 0; k < 2; ++k) {
    const Node& factor = graph.nodes[static_cast<std::size_t>(dot.arguments[k])];
    if (factor.kind != Kind::where) continue;
    const Node& otherwise = graph.nodes[static_cast<std::size_t>(factor.arguments[2])];
    if (otherwise.kind == Kind::constant && otherwise.number == 0) return {dot.arguments[k], dot.arguments[1 - k]};
  }
  return {};
}
}  // namespace

// What is hidden of a mean, or of a product by what is 0 where a condition does not hold, is not read.
Values::Read Values::read_by(const Node& dot) const {
  const Mean mean = mean_of(graph_, dot);
  const auto& [weights, other] = mean.weights >= 0 ? mean : hidden_by_zeros(graph_, dot);
  if (weights < 0) return {};
  const Node& weighs = graph_.nodes[static_cast<std::size_t>(weights)];
  const int condition = mean.weights >= 0 ? condition_of(graph_, weighs) : weighs.arguments[0];
  Read read{weights, other, condition < 0 ? Field::number(1) : (*this)[condition].value};
  if (weighs.kind == Kind::softmax_or_zero)  // of a row of only -inf nothing is read
    read.seen = map(
        extents_, [](double s, double sum) { return sum != 0 ? s : 0.0; }, read.seen,
        sum_over(extents_, dot.over, (*this)[weights].value));
  return read;
}

// Infinities and NaNs of the other factor count where they are seen.
Field Values::multiply_up(const Node& node) const {
  const auto is_finite = [](double v) { return std::isfinite(v); };
  const Field &a = (*this)[node.arguments[0]].value, &b = (*this)[node.arguments[1]].value;
  if (std::ranges::all_of(a.at, is_finite) && std::ranges::all_of(b.at, is_finite)) return dot_over(extents_, node.over, a, b);
  const Read read = read_by(node);
  if (read.weights < 0) return dot_over(extents_, node.over, a, b);
  const Field &weights = (*this)[read.weights].value, &x = (*this)[read.other].value;
  const auto finite = [&](const Field& f) {
    return map(
        extents_, [](double v) { return std::isfinite(v) ? v : 0.0; }, f);
  };
  const auto odd_along = [&](const Field& f) {  // which places have what is not finite
    return max_over(extents_, f.axes & ~node.over,
                    map(
                        extents_, [](double v) { return std::isfinite(v) ? 0.0 : 1.0; }, f));
  };
  // Note: weights of a mean are NaN where their row is, whatever is seen of it.
  const bool is_mean = graph_.nodes[static_cast<std::size_t>(read.weights)].kind != Kind::where;
  Field out = dot_over(extents_, node.over, is_mean ? weights : finite(weights), finite(x));
  const Field odd = plus(extents_, odd_along(weights), odd_along(x));
  const std::vector<int> over = list_of(node.over);
  std::vector<std::int64_t> index;
  const auto here = [&](Field f) {
    Extents e = extents_;
    for (std::size_t d = 0; d < over.size(); ++d) {
      f = pick(e, f, over[d], std::span(&index[d], 1));
      e.of[static_cast<std::size_t>(over[d])] = 1;
    }
    f.axes &= ~node.over;
    return f;
  };
  for (std::int64_t k = 0; k < extents_.size(node.over); ++k) {
    index = index_of(k, over, extents_);
    if (here(odd).at[0] == 0) continue;
    out = map(
        extents_,
        [](double sum, double w, double v, double s) {
          return s != 0 && !(std::isfinite(w) && std::isfinite(v)) ? sum + w * v : sum;
        },
        out, here(weights), here(x), here(read.seen));
  }
  return out;
}

}  // namespace assay::formula
