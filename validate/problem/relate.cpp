// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/relate.hpp"

#include <algorithm>
#include <cmath>

#include "validate/values/layout.hpp"
#include "validate/values/random.hpp"

namespace assay {

namespace {

using Move = Relation::Move;

constexpr std::uint64_t kOneIn = 4;                          // one case in four tries a relation
constexpr std::int64_t kMostShared = std::int64_t{1} << 24;  // most elements of such a case

// A first part needs at least two rows: with one row strides are irrelevant, so a kernel may take another path.
bool enough(const Relation& r, const Case& c) {
  const std::int64_t n = c.dims[r.axis];
  return r.move == Move::permuted ? n >= 2 : r.move != Move::first_part || n >= 3;
}

bool is_moved(const Relation& r, const Axis& axis) { return axis == r.axis || (axis == Axis::heads && r.axis == Axis::kv_heads); }

// The original's index for index i of an axis of the related problem.  A permutation reverses and rotates the order, so that
// tiles change and the last index moves to the middle; it is its own inverse.
std::int64_t source(const Relation& r, const Dims& from, const Axis& axis, std::int64_t i) {
  if (r.move != Move::permuted) return i;
  if (axis == Axis::heads && r.axis == Axis::kv_heads) {
    const std::int64_t group = from[Axis::heads] / from[Axis::kv_heads];
    return source(r, from, Axis::kv_heads, i / group) * group + i % group;
  }
  if (axis != r.axis) return i;
  const std::int64_t n = from[axis], first = n - 1 - n / 3;
  return (first - i + n) % n;
}

std::int64_t elements_of(const Dims& dims, std::span<const Extent> shape) {
  std::int64_t n = 1;
  for (const Extent& e : shape) n *= e.of(dims);
  return n;
}

// Element i of an integer tensor in the related problem; values may index the permuted axis.
double moved_integer(const Relation& r, const TensorSpec& spec, const Dims& from, std::int64_t i, double v) {
  if (r.integer) return r.integer(spec.name, from, i, v);
  const bool place =
      r.move == Move::permuted && spec.options.index_of == r.axis && v >= 0 && v < static_cast<double>(from[r.axis]);
  return place ? static_cast<double>(source(r, from, r.axis, static_cast<std::int64_t>(v))) : v;
}

}  // namespace

bool asks_bits(const Relation& r, const Kernel& kernel, DType dtype) {
  if (!r.bits || !kernel.deterministic || kernel.position_matters || is_vendor(kernel)) return false;
  const Numerics& n = kernel.numerics;
  return r.scaled.empty() || !(n.accumulate == DType::f16 || (n.stores_intermediate && dtype == DType::f16));
}

Case related_case(const Relation& r, const Case& c) {
  Case to = c;
  if (r.move == Move::first_part) to.dims[r.axis] -= c.dims[r.axis] / 2;
  if (r.change) r.change(to);
  return to;
}

// Along what only follows from an axis, such as starts of sequences or scales of blocks, all stays where it was.
Sources::Sources(const Relation& r, const Dims& from, const Dims& to, std::span<const Extent> shape) {
  if (r.move == Move::regrouped) {
    if (!std::ranges::all_of(shape, &Extent::is_axis)) return;
    group_ = elements_of(to, shape) / elements_of(from, shape);
    return;
  }
  bool moves = false;
  for (const Extent& e : shape) {
    Along& along = along_.emplace_back(e.of(from), e.of(to));
    moves = moves || (along.from != along.to && &along != &along_.front());
    if (r.move != Move::permuted || !e.is_axis() || !is_moved(r, e.axis)) continue;
    moves = true;
    for (std::int64_t i = 0; i < along.to; ++i) along.places.push_back(source(r, from, e.axis, i));
  }
  if (!moves) along_.clear();
}

std::int64_t Sources::operator[](std::int64_t i) const {
  if (along_.empty()) return i / group_;
  std::int64_t at = 0, step = 1;
  for (std::size_t a = along_.size(); a-- > 0;) {
    const Along& along = along_[a];
    const std::int64_t place = i % along.to;
    at += (along.places.empty() ? place : along.places[static_cast<std::size_t>(place)]) * step;
    i /= along.to;
    step *= along.from;
  }
  return at;
}

const Relation* find_relation(const Op& op, std::string_view name) {
  for (const Relation& r : op.hooks.relations)
    if (r.name == name) return &r;
  return nullptr;
}

// Note: in layout `alone`, extents decide which tensor is not aligned, and so which accesses a kernel makes.
bool changes_extents(const Relation& r) { return r.move == Relation::Move::first_part || r.move == Relation::Move::regrouped; }

std::vector<std::string> relations_of(const Op& op, const Case& c, Relations which) {
  std::vector<std::string> names;
  // Note: a related problem is made in memory without holes.
  const Layout* layout = find_layout(c.layout);
  if (which == Relations::none || elements(c, op.shape()) == 0 || (layout && layout->far)) return names;
  for (const Relation& r : op.hooks.relations)
    if (enough(r, c) && (!r.applies || r.applies(c)) && !(layout && layout->alone && changes_extents(r)))
      names.emplace_back(r.name);
  if (which == Relations::all || names.empty()) return names;
  const std::uint64_t bits = random::mix(c.seed ^ random::hash(op.name));
  if (bits % kOneIn != 0 || elements(c, op.shape()) > kMostShared) return {};
  return {names[bits / kOneIn % names.size()]};
}

std::optional<Related> relate(const Op& op, const Case& c, const Relation& r, const Packing& from, const std::byte* inputs,
                              const std::byte* outputs) {
  Related related{.c = related_case(r, c), .inputs = {}};
  const Packing to = pack(op, related.c);
  related.inputs.assign(to.input_bytes, std::byte{0xff});
  for (std::size_t t = 0; t < op.tensors.size(); ++t) {
    const TensorSpec& spec = op.tensors[t];
    if (!is_given(spec) || to.placements[t].bytes == 0) continue;
    const Relation::Inverse* inverse = r.inverse_into(spec.name);
    const std::size_t origin = inverse ? tensor_index(op, inverse->output) : t;
    Tensor original = from.placements[origin].tensor, image = to.placements[t].tensor;
    original.data = const_cast<std::byte*>(inverse ? outputs + from.at[origin] : inputs + from.given[t]);
    image.data = related.inputs.data() + to.given[t];
    const Relation::Scaled s = r.scaling(spec.name);
    const bool integers = !is_float(image.dtype);
    const Sources sources(r, c.dims, related.c.dims, spec.axes);
    for (std::int64_t i = 0; i < image.size(); ++i) {
      const std::int64_t of = inverse ? r.partner(c, i) : sources[i];
      const double v = original.at(of);
      const double moved = integers ? moved_integer(r, spec, c.dims, i, v) : s.of(v);
      if (!std::isnan(v) && round_to(image.dtype, moved) != moved) return std::nullopt;
      image.set(i, moved);
    }
  }
  return related;
}

}  // namespace assay
