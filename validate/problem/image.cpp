// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>

#include "validate/base/error.hpp"
#include "validate/problem/contents/contents.hpp"
#include "validate/values/common_fills.hpp"
#include "validate/values/islands.hpp"
#include "validate/values/layout.hpp"
#include "validate/values/random.hpp"

namespace assay {

namespace {

// The row stride in elements.  The gap is 3 elements, or with a row_multiple of m more than m and at most 2 m bytes.
std::int64_t row_stride(const Layout& l, std::int64_t cols, std::int64_t element_bytes) {
  if (!l.padded) return cols;
  if (!l.row_multiple) return cols + 3;
  const std::int64_t near = (cols * element_bytes / l.row_multiple + 2) * l.row_multiple / element_bytes;
  return l.far ? near + (std::int64_t{1} << 31) : near;
}

// Places a tensor by a layout whose rules are the same for all tensors.
void place_alike(const Layout& l, Placement& p) {
  Tensor& t = p.tensor;
  const std::int64_t element = size_of(t.dtype);
  p.offset = static_cast<std::size_t>(l.offset_bytes % element ? 0 : l.offset_bytes);
  std::int64_t stride = 1;
  for (int i = t.rank - 1; i >= 0; --i) {
    t.stride[i] = stride;
    const bool innermost = i == t.rank - 1 && t.rank > 1;
    stride *= innermost ? row_stride(l, t.shape[i], element) : t.shape[i];
  }
}

constexpr std::int64_t kVectorBytes = 16;  // of the widest access

// Which tensor's draws tensor `index` takes: with twins those of the first one of its shape and role.
std::size_t draws_of(const Layout& l, const Op& op, std::size_t index) {
  if (!l.twins) return index;
  const TensorSpec& spec = op.tensors[index];
  const auto first = std::find_if(op.tensors.begin(), op.tensors.end(), [&](const TensorSpec& t) {
    return t.axes == spec.axes && t.role == spec.role && t.options.dtype == spec.options.dtype;
  });
  return static_cast<std::size_t>(first - op.tensors.begin());
}

// Whether the start and the rows of a tensor with these draws lie at multiples of 16 bytes.  Without a row_multiple, in half of
// the cases each tensor is aligned with a probability of 1/2.  In the others all are but one, which catches a kernel that checks
// the alignment of every tensor but that one.
bool draws_alignment(const Layout& l, const Op& op, const Case& c, std::size_t index) {
  const auto tensors = static_cast<std::int64_t>(op.tensors.size());
  if (l.row_multiple) return true;
  const std::uint64_t key = random::key(c.seed, op.tensors.size(), random::Purpose::layout);
  if (random::one_in(key, 0, 2)) return random::one_in(key, 2 + index, 2);
  return random::index(key, 1, tensors) != static_cast<std::int64_t>(index);
}

// Draws a tensor's start, its strides and the order of its outer axes from `key`.  `merged`: the first two axes keep their order
// and have no gap between them, so that one stride addresses both.
void place_own(std::uint64_t key, bool aligned, bool merged, Placement& p) {
  Tensor& t = p.tensor;
  const std::int64_t element = size_of(t.dtype), unit = aligned ? kVectorBytes / element : 1;
  std::uint64_t draws = 0;
  const auto draw = [&](std::int64_t n) { return random::index(key, draws++, n); };
  p.offset = aligned ? 0 : static_cast<std::size_t>(draw(kVectorBytes / element) * element);
  std::vector<int> outwards;  // outer axes, the one with the smallest stride first
  for (int i = t.rank - 2; i >= 0; --i) outwards.push_back(i);
  for (std::size_t i = outwards.size(); !merged && i > 1; --i)
    std::swap(outwards[i - 1], outwards[static_cast<std::size_t>(draw(static_cast<std::int64_t>(i)))]);
  if (t.rank > 0) t.stride[t.rank - 1] = 1;
  std::int64_t extent = t.rank > 0 ? t.shape[t.rank - 1] : 1;
  for (const int i : outwards) {
    if (!merged || i > 0) extent = (extent + unit - 1) / unit * unit + unit * draw(4);
    t.stride[i] = extent;
    extent *= std::max<std::int64_t>(t.shape[i], 1);
  }
}

// The place that layout `alone` breaks in a case: number (sum of the extents) modulo (how many places there are).  A tensor that
// the case lacks leaves all others aligned.
AlonePlace alone_place(const Op& op, const Case& c) {
  const std::vector<AlonePlace> places = alone_places(op.tensors);
  std::int64_t sum = 0;
  for (const AxisUse& use : op.axes) sum += c.dims[use.axis];
  return places[static_cast<std::size_t>(sum) % places.size()];
}

// Moves an aligned start to 1 to (16 / element's size - 1) elements after its 16-byte boundary.
void shift_start(std::uint64_t key, Placement& p) {
  const std::int64_t element = size_of(p.tensor.dtype);
  p.offset = static_cast<std::size_t>((1 + random::index(key, p.tensor.rank, kVectorBytes / element - 1)) * element);
}
// Moves row r, counted in the order of memory, by r elements, so that most rows are no longer aligned.  The start stays.
void shift_rows(Tensor& t) {
  std::vector<int> outwards;  // outer axes, the one with the smallest stride first
  for (int i = 0; i + 1 < t.rank; ++i) outwards.push_back(i);
  std::ranges::sort(outwards, {}, [&t](int i) { return t.stride[i]; });
  std::int64_t rows = 1;  // that lie within one step along the axis
  for (const int i : outwards) {
    t.stride[i] += rows;
    rows *= std::max<std::int64_t>(t.shape[i], 1);
  }
}

// Writes value(i) as element i of a tensor with contiguous rows.
template <class Value>
void write_elements(const Tensor& t, std::byte* image, Value value) {
  constexpr std::int64_t kRun = 1 << 16;  // long rows are split between threads
  constexpr std::int64_t kWorthThreads = 1 << 12;
  const std::int64_t inner = t.shape[t.rank - 1], rows = t.size() / inner, runs = (inner + kRun - 1) / kRun;
#pragma omp parallel for schedule(static) if (t.size() >= kWorthThreads)
  for (std::int64_t k = 0; k < rows * runs; ++k) {
    const std::int64_t row = k / runs, first = k % runs * kRun, at = t.offset(row * inner);
    for (std::int64_t i = first; i < std::min(inner, first + kRun); ++i) encode(t.dtype, image, at + i, value(row * inner + i));
  }
}

}  // namespace

bool present(const TensorSpec& spec, const Case& c) {
  if (spec.options.present_if.empty()) return true;
  const double word = attribute(c, spec.options.present_if);
  return spec.options.present_values == 0 ? word != 0 : spec.options.present_values >> static_cast<unsigned>(word) & 1;
}

std::vector<Placement> place(const Op& op, const Case& c) {
  const Layout* layout = find_layout(c.layout);
  if (!layout) throw BadInput(unknown("layout", c.layout, layout_names()));
  const AlonePlace alone = layout->alone ? alone_place(op, c) : AlonePlace{.tensor = op.tensors.size(), .rows = false};
  std::vector<Placement> placements;
  for (const TensorSpec& spec : op.tensors) {
    Placement& p = placements.emplace_back();
    if (!present(spec, c)) continue;
    p.tensor.dtype = spec.options.dtype.value_or(c.dtype);
    p.tensor.rank = static_cast<int>(spec.axes.size());
    for (int i = 0; i < p.tensor.rank; ++i) p.tensor.shape[i] = spec.axes[i].of(c.dims);
    if (layout->own) {
      const std::size_t index = lies_over(op, c, placements.size() - 1).value_or(placements.size() - 1);
      const bool merged = !spec.options.merged_if.empty() && attribute(c, spec.options.merged_if) != 0;
      const std::size_t from = draws_of(*layout, op, index);
      const bool aligned = draws_alignment(*layout, op, c, from);
      const std::uint64_t key = random::key(c.seed, from, random::Purpose::layout);
      place_own(key, aligned, merged, p);
      if (alone.tensor == from) {
        if (alone.rows) shift_rows(p.tensor);
        else shift_start(key, p);
      }
    } else {
      // Note: tables of integers stay near, since the judge reads them by itself.
      place_alike(layout->far && is_index(p.tensor.dtype) ? *find_layout("padded16") : *layout, p);
    }
    std::int64_t last = 0;
    for (int i = 0; i < p.tensor.rank; ++i) last += (p.tensor.shape[i] - 1) * p.tensor.stride[i];
    p.bytes = p.tensor.size() == 0 ? 0 : static_cast<std::size_t>((last + 1) * size_of(p.tensor.dtype));
  }
  return placements;
}

std::optional<std::size_t> lies_over(const Op& op, const Case& c, std::size_t index) {
  const TensorOptions& options = op.tensors[index].options;
  if (options.in_place_of.empty() || attribute(c, options.in_place_if) == 0) return std::nullopt;
  for (std::size_t i = 0; i < op.tensors.size(); ++i)
    if (op.tensors[i].name == options.in_place_of) return i;
  throw std::logic_error(fmt::format("{}: an in-place output names an unknown tensor '{}'", op.name, options.in_place_of));
}

namespace {
// A fill's value as one of a dtype's: what has no sign is positive.
double fitting(DType t, double v) {
  const double scaled = whole_numbers_scale(t) * v;
  return info(t).has_sign ? scaled : std::fabs(scaled);
}
}  // namespace

void fill_image(const Op& op, const Case& c, int index, const Placement& p, std::byte* image, std::byte garbage) {
  const TensorSpec& spec = op.tensors[static_cast<std::size_t>(index)];
  if (p.bytes == 0) return;  // Note: an empty image may have no address
  if (!is_given(spec)) {
    for (const Island& i : islands(p.tensor, p.bytes)) std::memset(image + i.begin, std::to_integer<int>(garbage), i.bytes());
    return;
  }
  const Fill& fill = find_fill(op, c.fill);
  const FillSite site{.dims = c.dims,
                      .dtype = p.tensor.dtype,
                      .tensor = spec.name,
                      .tensor_index = index,
                      .role = spec.role == Role::output ? Role::input : spec.role,
                      .shape = std::span(p.tensor.shape).first(static_cast<std::size_t>(p.tensor.rank)),
                      .seed = c.seed,
                      .holds = &spec.options.holds,
                      .attributes = &c.attributes};
  if (!p.tensor.contiguous())
    for (const Island& i : islands(p.tensor, p.bytes)) std::memset(image + i.begin, std::to_integer<int>(kGapByte), i.bytes());
  const Contents& holds = spec.options.holds;
  if (holds.kind == Contents::Kind::output) {
    const std::vector<double> values = output_of_another(op, c, spec.name);
    write_elements(p.tensor, image, [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; });
  } else if (holds.kind == Contents::Kind::between) {
    write_elements(p.tensor, image, [&](std::int64_t i) { return folded(holds, fill.value(site, i)); });
  } else if (!is_index(p.tensor.dtype)) {
    const std::vector<bool> unused = unused_rows(op, spec, fill, site);
    write_elements(p.tensor, image, [&](std::int64_t i) {
      const bool nobody = !unused.empty() && unused[static_cast<std::size_t>(i / site.shape.back())];
      return nobody ? std::numeric_limits<double>::quiet_NaN() : fitting(site.dtype, fill.value(site, i));
    });
  } else {
    write_elements(p.tensor, image, [&](std::int64_t i) { return static_cast<double>(drawn(fill, site, i)); });
  }
}

bool all_finite(const Tensor& t, const std::byte* image) {
  if (t.rank == 0 || t.size() == 0) return true;
  const std::int64_t inner = t.shape[t.rank - 1], step = t.stride[t.rank - 1];
  for (std::int64_t row = 0; row < t.size() / inner; ++row)
    for (std::int64_t c = 0, at = t.offset(row * inner); c < inner; ++c, at += step)
      if (!std::isfinite(decode(t.dtype, image, at))) return false;
  return true;
}

void attach(Problem& problem, const Case& c, std::span<const Placement> placements, std::span<std::byte* const> images) {
  for (std::size_t i = 0; i < placements.size(); ++i) {
    Tensor& t = *problem.tensors()[i];
    t = placements[i].tensor;
    t.data = t.rank ? images[i] : nullptr;
  }
  for (const auto& [name, value] : c.attributes) problem.set_attribute(name, value);
}

const Fill& find_fill(const Op& op, std::string_view name) {
  for (const Fill& f : op.hooks.fills)
    if (f.name == name) return f;
  for (const Fill& f : common_fills())
    if (f.name == name) return f;
  throw BadInput(unknown("fill", name, fill_names(op.shape())));
}

std::int64_t tile_along(const Kernel& k, Axis axis, DType dtype) {
  for (const Tile& t : k.tiles)
    if (t.axis == axis && t.bytes_or_extent) return std::max<std::int64_t>(1, t.extent(dtype));
  return 1;
}

bool multi_tile_ragged(const Kernel& k, const Case& c) {
  for (const Tile& t : k.tiles) {
    const std::int64_t extent = t.bytes_or_extent ? t.extent(c.dtype) : 0;
    if (extent > 0 && c.dims[t.axis] > extent && c.dims[t.axis] % extent != 0) return true;
  }
  return false;
}

}  // namespace assay
