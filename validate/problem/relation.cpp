// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/relation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validate/judge/compare.hpp"
#include "validate/problem/bounds.hpp"
#include "validate/values/random.hpp"
#include "validate/worker/worker.hpp"

namespace assay {

namespace {

using Move = Relation::Move;

constexpr std::uint64_t kOneIn = 4;                          // cases that try a relation in a run
constexpr std::int64_t kMostShared = std::int64_t{1} << 24;  // elements of such a case

// A first part has two rows at least: of one row alone a kernel may rightly ask less, its stride means nothing.
bool enough(const Relation& r, const Case& c) {
  const std::int64_t n = c.dims[r.axis];
  return r.move == Move::permuted ? n >= 2 : r.move != Move::first_part || n >= 3;
}

Case related_case(const Relation& r, const Case& c) {
  Case to = c;
  if (r.move == Move::first_part) to.dims[r.axis] -= c.dims[r.axis] / 2;
  if (r.change) r.change(to);
  return to;
}

// Index i of an axis of the related problem is this one of the original's.  A permutation turns the order round and starts
// it elsewhere, so that neighbours part, tiles change and the last goes into the middle; it is its own inverse.
std::int64_t source(const Relation& r, const Dims& from, Axis axis, std::int64_t i) {
  if (r.move != Move::permuted) return i;
  if (axis == Axis::heads && r.axis == Axis::kv_heads) {
    const std::int64_t group = from[Axis::heads] / from[Axis::kv_heads];
    return source(r, from, Axis::kv_heads, i / group) * group + i % group;
  }
  if (axis != r.axis) return i;
  const std::int64_t n = from[axis], first = n - 1 - n / 3;
  return (first - i + n) % n;
}

std::int64_t elements_of(const Dims& dims, std::span<const Axis> axes) {
  std::int64_t n = 1;
  for (const Axis a : axes) n *= dims[a];
  return n;
}

// Row-major index of the original tensor for one of the related tensor.
std::int64_t source(const Relation& r, const Dims& from, const Dims& to, std::span<const Axis> axes, std::int64_t i) {
  if (r.move == Move::regrouped) return i / (elements_of(to, axes) / elements_of(from, axes));
  // Note: one element at a time, most of them of tensors that nothing moves in.
  const auto inner = axes.subspan(axes.empty() ? 0 : 1);
  const auto as_before = [&](Axis a) { return from[a] == to[a]; };
  if (r.move != Move::permuted && std::all_of(inner.begin(), inner.end(), as_before)) return i;
  std::int64_t at = 0, step = 1;
  for (std::size_t a = axes.size(); a-- > 0;) {
    at += source(r, from, axes[a], i % to[axes[a]]) * step;
    i /= to[axes[a]], step *= from[axes[a]];
  }
  return at;
}

// The values of a tensor of integers may be places on the axis that is permuted.
double moved_integer(const Relation& r, const TensorSpec& spec, const Dims& from, std::int64_t i, double v) {
  if (r.integer) return r.integer(spec.name, from, i, v);
  const bool place =
      r.move == Move::permuted && spec.options.index_of == r.axis && v >= 0 && v < static_cast<double>(from[r.axis]);
  return place ? static_cast<double>(source(r, from, r.axis, static_cast<std::int64_t>(v))) : v;
}

// The way back that a tensor is on, as an input or as an output.
const Relation::Back* way_of(const Relation& r, std::string_view Relation::Back::*end, std::string_view tensor) {
  for (const Relation::Back& b : r.back)
    if (b.*end == tensor) return &b;
  return nullptr;
}
std::size_t index_of(const Op& op, std::string_view tensor) {
  const auto named = [&](const TensorSpec& t) { return t.name == tensor; };
  return static_cast<std::size_t>(std::find_if(op.tensors.begin(), op.tensors.end(), named) - op.tensors.begin());
}

Relation::Scaled scaling(const Relation& r, std::string_view tensor) {
  for (const Relation::Scaled& s : r.scaled)
    if (s.tensor == tensor) return s;
  return {.tensor = tensor};
}

// Note: -0 + 0 is no -0.
double scaled_by(const Relation::Scaled& s, double v) { return s.added == 0 ? v * s.factor : v * s.factor + s.added; }

bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b)); }

// Whether scaling by a power of two is exact here: both ends are normal values, or both zero, and not because they underflow.
// Note: what is rounded up to the least normal value was rounded as a subnormal.
bool scales_exactly(DType t, double v, double scaled, bool zero_by_right) {
  const double least = random::power_of_two(info(t).format.min_exponent), most = overflow_threshold(t);
  const auto normal = [&](double x) { return std::fabs(x) > least && std::fabs(x) < most; };
  return v == 0 ? zero_by_right : normal(v) && normal(scaled);
}

std::string place(std::span<const Axis> axes, const Tensor& t, std::int64_t i) {
  std::string text;
  for (std::size_t a = axes.size(); a-- > 0; i /= t.shape[a])
    text = fmt::format("{} {}{}{}", name(axes[a]), i % t.shape[a], text.empty() ? "" : ", ", text);
  return text;
}

}  // namespace

const Relation* find_relation(const Op& op, std::string_view name) {
  for (const Relation& r : op.hooks.relations)
    if (r.name == name) return &r;
  return nullptr;
}

std::vector<std::string> relations_of(const Op& op, const Case& c, Relations which) {
  std::vector<std::string> names;
  if (which == Relations::none || elements(c, op.shape()) == 0) return names;
  for (const Relation& r : op.hooks.relations)
    if (enough(r, c) && (!r.applies || r.applies(c))) names.emplace_back(r.name);
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
    const Relation::Back* way = way_of(r, &Relation::Back::input, spec.name);
    const std::size_t origin = way ? index_of(op, way->output) : t;
    Tensor original = from.placements[origin].tensor, image = to.placements[t].tensor;
    original.data = const_cast<std::byte*>(way ? outputs + from.at[origin] : inputs + from.given[t]);
    image.data = related.inputs.data() + to.given[t];
    const Relation::Scaled s = scaling(r, spec.name);
    const bool integers = !is_float(image.dtype);
    for (std::int64_t i = 0; i < image.size(); ++i) {
      const std::int64_t of = way ? r.partner(c, i) : spec.options.one_more ? i : source(r, c.dims, related.c.dims, spec.axes, i);
      const double v = original.at(of);
      const double moved = integers ? moved_integer(r, spec, c.dims, i, v) : scaled_by(s, v);
      if (!std::isnan(v) && round_to(image.dtype, moved) != moved) return std::nullopt;
      image.set(i, moved);
    }
  }
  return related;
}

namespace {

// The related problem with its golden; of an op with stages, from what the candidate itself has stored.
struct Solved {
  std::optional<Related> related;
  std::unique_ptr<Problem> problem;  // none: it does not apply
};
Solved solve(const Op& op, const Case& c, const Relation& r, const Packing& from, const std::byte* inputs,
             const std::byte* outputs, const std::byte* related_outputs) {
  Solved s{.related = relate(op, c, r, from, inputs, outputs), .problem = nullptr};
  if (!s.related) return s;
  const Packing to = pack(op, s.related->c);
  std::vector<std::byte*> images;
  for (std::size_t t = 0; t < op.tensors.size(); ++t)
    images.push_back(is_given(op.tensors[t]) ? s.related->inputs.data() + to.given[t]
                     : op.composite          ? const_cast<std::byte*>(related_outputs) + to.at[t]
                                             : nullptr);
  s.problem = op.make();
  attach(*s.problem, s.related->c, to.placements, images);
  s.problem->set_errors(find_fill(op, c.fill).coherent ? Errors::coherent : Errors::independent);
  s.problem->solve();
  return s;
}

}  // namespace

std::string judge_relation(const Op& op, const Kernel& kernel, const Relation& r, const Case& c, const Problem& original,
                           const Packing& from, const std::byte* inputs, const std::byte* outputs,
                           const std::byte* related_outputs) {
  const bool bits = r.bits && kernel.deterministic && !kernel.position_matters && !is_vendor(kernel);
  const bool bounds = !bits || (!r.loose.empty() && r.move != Move::first_part);
  Solved solved;
  if (bounds && original.rows().all()) {  // Note: a sampled golden has no bound for the rows left out
    solved = solve(op, c, r, from, inputs, outputs, related_outputs);
    if (!solved.problem) return {};
  }
  const Problem* problem = solved.problem.get();
  const Case changed = related_case(r, c);
  const Packing to = pack(op, changed);

  int output = -1;
  for (std::size_t t = 0; t < op.tensors.size(); ++t) {
    const TensorSpec& spec = op.tensors[t];
    if (spec.role != Role::output) continue;
    ++output;
    const bool loose = std::find(r.loose.begin(), r.loose.end(), spec.name) != r.loose.end(), by_bits = bits && !loose;
    if ((loose && r.move == Move::first_part) || (!by_bits && !problem)) continue;
    const Relation::Back* way = way_of(r, &Relation::Back::output, spec.name);
    const std::size_t origin = way ? index_of(op, way->input) : t;
    Tensor a = from.placements[origin].tensor, b = to.placements[t].tensor;
    a.data = const_cast<std::byte*>(way ? inputs + from.given[origin] : outputs + from.at[t]);
    b.data = const_cast<std::byte*>(related_outputs + to.at[t]);
    const auto fail = [&](std::int64_t i, double was, const char* why) {
      return fmt::format("relation {}: '{}' at {} is {:.9g}, {} {:.9g}", r.name, spec.name, place(spec.axes, b, i), b.at(i), why,
                         was);
    };
    if (!by_bits)
      if (const Comparison judged = compare(*problem, kernel.numerics, output, b, false); judged.wrong)
        return fail(judged.worst, judged.golden, "out of the bound of");
    if (!by_bits && op.composite) continue;  // Note: the bound of a stage says nothing of what its inputs differ by
    const Relation::Scaled s = scaling(r, spec.name);
    std::optional<Bounds> related_bounds, original_bounds;
    if (!by_bits)
      related_bounds.emplace(*problem, kernel.numerics, output), original_bounds.emplace(original, kernel.numerics, output);
    for (std::int64_t i = 0; i < b.size(); ++i) {
      const std::int64_t j = way ? r.partner(c, i) : source(r, c.dims, changed.dims, spec.axes, i);
      const double got = b.at(i), was = a.at(j), scaled = scaled_by(s, was);
      if (same(got, scaled)) continue;
      if (by_bits) {
        const bool zero_by_right = original.rows().all() && original.golden(output)[static_cast<std::size_t>(j)] == 0;
        if (s.factor != 1 && !scales_exactly(b.dtype, was, scaled, zero_by_right)) continue;
        return fail(i, scaled, "and must have the bits of");
      }
      if (!std::isfinite(got) || !std::isfinite(scaled)) continue;  // Note: each is right by the bound, or overflows near it
      double allowed = (*related_bounds)[i] + std::fabs(s.factor) * (*original_bounds)[j];
      if (way) allowed += (*original_bounds)[i];
      if (!(std::fabs(got - scaled) <= allowed)) return fail(i, scaled, "further than both bounds from");
    }
  }
  return {};
}

}  // namespace assay
