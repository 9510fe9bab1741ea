// SPDX-License-Identifier: Apache-2.0
// Which elements of inputs are legal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "ops/core/page_table.hpp"
#include "ops/core/sequences.hpp"
#include "validate/problem/contents/contents.hpp"
#include "validate/problem/image.hpp"

namespace assay {

namespace {

using Kind = Contents::Kind;

const TensorSpec* find(std::span<const TensorSpec> specs, std::string_view name) {
  const auto at = std::ranges::find(specs, name, &TensorSpec::name);
  return at == specs.end() ? nullptr : &*at;
}

class Checks {
 public:
  Checks(std::span<const TensorSpec> specs, std::span<const Tensor* const> tensors) : specs_(specs), tensors_(tensors) {}

  Legality of(std::size_t i) const {
    const Contents& holds = specs_[i].options.holds;
    const Tensor& t = *tensors_[i];
    if (t.rank == 0 || !t.data) return Legality::yes();
    switch (holds.kind) {
      case Kind::between:
        return each(
            i, [&](double v) { return v >= holds.least && v <= holds.most; },
            fmt::format("between {} and {}", holds.least, holds.most));
      case Kind::indices: return whole_numbers_below(i, extent(holds.axis));
      case Kind::starts: return starts(i);
      case Kind::lengths: return whole_numbers_below(i, extent(Axis::max_pages) * extent(Axis::page_size) + 1);
      case Kind::pages: return pages(i);
      default: return Legality::yes();
    }
  }

 private:
  std::int64_t extent(const Axis& axis) const {
    for (std::size_t t = 0; t < specs_.size(); ++t)
      for (std::size_t k = 0; k < specs_[t].axes.size() && tensors_[t]->rank; ++k)
        if (specs_[t].axes[k] == Extent(axis)) return tensors_[t]->shape[k];
    return 0;
  }

  template <class Is>
  Legality each(std::size_t i, Is&& is, const std::string& what) const {
    const Tensor& t = *tensors_[i];
    for (std::int64_t k = 0; k < t.size(); ++k)
      if (const double v = t.at(k); !is(v)) return Legality::no(fmt::format("{}[{}] is {}, not {}", specs_[i].name, k, v, what));
    return Legality::yes();
  }
  Legality whole_numbers_below(std::size_t i, std::int64_t end) const {
    return each(
        i, [&](double v) { return v >= 0 && v < static_cast<double>(end); }, fmt::format("one of 0 ... {}", end - 1));
  }

  // Packed sequences have a multiple of batch tokens together: their mean length is an extent and thus whole.
  Legality starts(std::size_t i) const {
    const Tensor& t = *tensors_[i];
    const std::string_view axis = specs_[i].axes[0].axis.name, mean = specs_[i].options.holds.axis.name;
    const std::int64_t sequences = t.shape[0] - 1, tokens = sequences * extent(specs_[i].options.holds.axis);
    for (std::int64_t b = 0; b <= sequences; ++b) {
      const std::int64_t at = start_of(t, b), least = b == 0 ? 0 : start_of(t, b - 1), most = b == 0 ? 0 : tokens;
      const auto no = [&](const std::string& why) {
        return Legality::no(fmt::format("{}[{}] is {}, and the {}", specs_[i].name, b, at, why));
      };
      if (at < least || at > most) return no(fmt::format("starts must rise from 0 to {}", tokens));
      if (b == sequences && at != tokens)
        return no(fmt::format("last start must be the number of tokens, {} x {} = {}{}", axis, mean, tokens,
                              at % sequences ? fmt::format("; no {} gives a number that {} does not divide", mean, axis) : ""));
    }
    return Legality::yes();
  }

  Legality pages(std::size_t i) const {
    const Contents& holds = specs_[i].options.holds;
    const auto lengths = static_cast<std::size_t>(find(specs_, holds.tensor) - specs_.data());
    if (!tensors_[lengths]->data) return Legality::yes();
    if (const Legality ok = of(lengths); !ok) return ok;
    const PageTable table{*tensors_[i], *tensors_[lengths], extent(Axis::pages), extent(Axis::page_size)};
    for (std::int64_t b = 0; b < table.entries.shape[0]; ++b)
      for (std::int64_t p = 0; p < table.length(b); p += table.page_size)
        if (const std::int64_t page = table.page(b, p); page < 0 || page >= table.pages)
          return Legality::no(fmt::format("{}[{}, {}] is {}, not one of 0 ... {}", specs_[i].name, b, p / table.page_size, page,
                                          table.pages - 1));
    return Legality::yes();
  }

  std::span<const TensorSpec> specs_;
  std::span<const Tensor* const> tensors_;
};

}  // namespace

void check_contents(const Op& op) {
  for (const TensorSpec& t : op.tensors) {
    const auto fail = [&](std::string_view why) { throw std::logic_error(fmt::format("{}: '{}' {}", op.name, t.name, why)); };
    const Contents& holds = t.options.holds;
    const bool has_integers = is_index(t.options.dtype.value_or(DType::f32)), is_of_floats = holds.kind == Kind::between;
    if (!is_given(t) && holds.kind != Kind::any) fail("is written by the kernel; `holds` is for inputs");
    if (is_given(t) && has_integers && (holds.kind == Kind::any || is_of_floats))
      fail("has integers; `holds` must say what they are");
    if (!has_integers && holds.kind != Kind::any && !is_of_floats && holds.kind != Kind::output)
      fail(fmt::format("holds {}, so it needs a dtype of integers", text_of(holds)));
    if (holds.kind == Kind::between)
      for (const double end : {holds.least, holds.most})
        for (const DType dtype : kActivationDTypes)
          if (round_to(dtype, end) != end)
            fail(fmt::format("holds a range that ends at {}, which {} does not have", end, name(dtype)));
    if (holds.kind == Kind::between && !(holds.least < holds.most)) fail("holds no numbers");
    if (holds.kind == Kind::pages && !find(op.tensors, holds.tensor)) fail("has lengths that are no tensor");
  }
}

Legality contents_legal(std::span<const TensorSpec> specs, std::span<const Tensor* const> tensors) {
  const Checks checks(specs, tensors);
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (const Legality ok = checks.of(i); !ok) return ok;
  return Legality::yes();
}

std::string text_of(const Contents& holds) {
  switch (holds.kind) {
    case Kind::between: return fmt::format("from {} to {}", holds.least, holds.most);
    case Kind::indices:
    case Kind::pages: return fmt::format("places on {}", holds.axis.name);
    case Kind::positions: return "positions of tokens";
    case Kind::starts: return fmt::format("starts of sequences of {}", holds.axis.name);
    case Kind::lengths: return "lengths in pages";
    case Kind::output: return fmt::format("{} of {}", holds.tensor, holds.op);
    default: return {};
  }
}

bool has_ranges(const Op& op, const Case& c) {
  return std::ranges::any_of(op.tensors,
                             [&](const TensorSpec& t) { return t.options.holds.kind == Kind::between && present(t, c); });
}

double folded(const Contents& range, double v) {
  const auto [least, most] = std::pair(range.least, range.most);
  if (std::isnan(v)) return std::isfinite(least) ? least : std::min(most, 0.0);
  if (v >= least && v <= most) return v;
  if (std::isinf(least)) return std::isinf(v) ? most : most - (v - most);
  if (std::isinf(most)) return std::isinf(v) ? most : least + (least - v);
  if (std::isinf(v)) return v > 0 ? most : least;
  const double width = most - least, at = std::fabs(std::fmod(v - least, 2 * width));
  return std::clamp(least + (at <= width ? at : 2 * width - at), least, most);
}

}  // namespace assay
