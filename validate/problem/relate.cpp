// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/relate.hpp"
#include "ops/core/stored.hpp"

#include <algorithm>
#include <cmath>

namespace assay {

namespace {

using Move = Relation::Move;

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
      r.move == Move::permuted && spec.options.holds.index(r.axis) && v >= 0 && v < static_cast<double>(from[r.axis]);
  return place ? static_cast<double>(source(r, from, r.axis, static_cast<std::int64_t>(v))) : v;
}

// Whether a value between inputs and outputs is rounded to f16.
bool rounds_to_f16(const Numerics& n, DType dtype) {
  bool stores = false;
  each_name(n.stores, [&](std::string_view step) { stores = stores || stored_as(n, name_of(step), dtype) == DType::f16; });
  return n.accumulate == DType::f16 || stores;
}

// Whether a kernel may be given it: half a page table may be too short.
bool is_legal(const Op& op, const Related& related, const Packing& packing) {
  return static_cast<bool>(problem_with(op, related.c, packing, related.inputs.data())->legal());
}

}  // namespace

bool asks_bits(const Relation& r, const Kernel& kernel, DType dtype) {
  if (!r.bits || !kernel.deterministic || kernel.position_matters || is_vendor(kernel)) return false;
  return r.scaled.empty() || !rounds_to_f16(kernel.numerics, dtype);
}

std::unique_ptr<Problem> problem_with(const Op& op, const Case& c, const Packing& packing, const std::byte* inputs,
                                      const std::byte* stored) {
  std::vector<std::byte*> images;
  for (std::size_t t = 0; t < op.tensors.size(); ++t)
    images.push_back(is_given(op.tensors[t])  ? const_cast<std::byte*>(inputs) + packing.given[t]
                     : op.composite && stored ? const_cast<std::byte*>(stored) + packing.at[t]
                                              : nullptr);
  std::unique_ptr<Problem> problem = op.make();
  attach(*problem, c, packing.placements, images);
  return problem;
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

std::optional<Related> relate(const Op& op, const Case& c, const Relation& r, const Packing& from, const std::byte* inputs,
                              const std::byte* outputs) {
  Related related{.c = related_case(r, c), .inputs = {}};
  if (!within(related.c.dims, op.axes)) return {};
  const Packing to = pack(op, related.c);
  related.inputs.assign(to.input_bytes, kGapByte);
  for (std::size_t t = 0; t < op.tensors.size(); ++t) {
    const TensorSpec& spec = op.tensors[t];
    if (!is_given(spec) || to.placements[t].bytes == 0) continue;
    const Relation::Inverse* inverse = r.inverse_into(spec.name);
    const std::size_t origin = tensor_index(op, inverse ? inverse->output : r.swapped_with(spec.name));
    Tensor original = from.placements[origin].tensor, image = to.placements[t].tensor;
    original.data = const_cast<std::byte*>(inverse ? outputs + from.at[origin] : inputs + from.given[origin]);
    image.data = related.inputs.data() + to.given[t];
    const Relation::Scaled s = r.scaling(spec.name);
    const bool integers = is_index(image.dtype);
    const Sources sources(r, c.dims, related.c.dims, spec.axes);
    for (std::int64_t i = 0; i < image.size(); ++i) {
      const std::int64_t of = inverse ? r.partner(c, i) : sources[i];
      const double v = original.at(of);
      const double moved = integers ? moved_integer(r, spec, c.dims, i, v) : s.of(v);
      // Note: beside 64, f64 itself would lose a small v.
      const bool is_exact = integers || s.added == 0 || s.factor == 0 || moved - s.added == v * s.factor;
      if (!std::isnan(v) && (round_to(image.dtype, moved) != moved || !is_exact)) return std::nullopt;
      image.set(i, moved);
    }
  }
  return is_legal(op, related, to) ? std::optional(std::move(related)) : std::nullopt;
}

}  // namespace assay
