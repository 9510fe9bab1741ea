// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/altered.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "ops/core/dense.hpp"

namespace assay {

namespace {

using Index = std::array<std::int64_t, kMaxRank>;

constexpr double kLog2E = 1.4426950408889634;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 16;  // of an image, since each is copied many times

// An attribute as text: a number in the fewest digits.
std::string number_text(double v) { return fmt::format("{:.6g}", v); }

class Alterations {
 public:
  Alterations(const Op& op, const Case& c, std::span<const Placement> placements, std::span<std::byte* const> images,
              const std::function<bool(const std::string&, Problem&)>& is_it)
      : op_(op), case_(c), placements_(placements), images_(images), is_it_(is_it) {}

  void go() {
    for (const Attribute& a : op_.attributes)
      if (!found_ && a.choices.empty()) numbers(a);
    // Note: what most kernels get wrong comes first, for all tensors, since two explanations may hold.
    for (const auto step : {&Alterations::values, &Alterations::strides, &Alterations::others, &Alterations::places,
                            &Alterations::tails, &Alterations::factors, &Alterations::roundings})
      for (std::size_t i = 0; i < op_.tensors.size(); ++i)
        if (!found_ && usable(i)) (this->*step)(i);
    if (!found_) groups();
    for (const int by : {-1, 1})
      if (!found_) keys(by);
  }

 private:
  bool usable(std::size_t i) const {
    const Tensor& t = placements_[i].tensor;
    return is_given(op_.tensors[i]) && t.rank > 0 && t.size() > 0 && images_[i] != nullptr &&
           static_cast<std::int64_t>(placements_[i].bytes) <= kMostBytes;
  }
  bool is_integer(std::size_t i) const { return is_index(placements_[i].tensor.dtype); }
  std::string name_of(std::size_t i) const { return "`" + std::string(op_.tensors[i].name) + "`"; }
  std::string axis_of(std::size_t i, int a) const { return op_.tensors[i].axes[static_cast<std::size_t>(a)].text(); }
  Tensor given(std::size_t i) const {
    Tensor t = placements_[i].tensor;
    t.data = images_[i];
    return t;
  }

  // Asks of the problem of a case, once `change` has changed its tensors; false: it cannot.
  template <class Change>
  void ask(const std::string& what, const Case& c, const Change& change) {
    if (found_) return;
    const std::unique_ptr<Problem> problem = op_.make();
    attach(*problem, c, placements_, images_);
    if (change(problem->tensors()) && problem->legal()) found_ = is_it_(what, *problem);
  }
  // The same where tensor i is `t`.
  void ask_with(const std::string& what, std::size_t i, const Tensor& t) {
    ask(what, case_, [&](std::span<Tensor* const> tensors) {
      *tensors[i] = t;
      return true;
    });
  }
  // The same where the element of tensor i at an index is of(element, index).
  template <class Of>
  void ask_values(const std::string& what, std::size_t i, const Of& of) {
    const Tensor t = given(i);
    std::vector<std::byte> image(images_[i], images_[i] + placements_[i].bytes);
    Tensor changed = t;
    changed.data = image.data();
    bool same = true;
    for (std::int64_t k = 0; k < t.size(); ++k) {
      const double before = t.at(k), after = of(before, t.index(k));
      same = same && before == after;
      changed.set(k, after);
    }
    if (!same) ask_with(what, i, changed);
  }
  // The same where all tensors with an axis have other extents there, and at index n what they had at from(n, extent).
  template <class NewExtent, class From>
  void ask_resized(const std::string& what, Axis axis, const NewExtent& extent_of, const From& from) {
    std::vector<std::vector<std::byte>> images;
    ask(what, case_, [&](std::span<Tensor* const> tensors) {
      for (std::size_t k = 0; k < tensors.size(); ++k) {
        const std::vector<Extent>& axes = op_.tensors[k].axes;
        const auto at_axis = std::ranges::find(axes, axis, &Extent::axis);
        if (at_axis == axes.end() || placements_[k].tensor.rank == 0) continue;
        if (!usable(k) || is_integer(k) || !at_axis->is_axis()) return false;
        const auto a = static_cast<std::size_t>(at_axis - axes.begin());
        const Tensor t = given(k);
        Tensor other = t;
        other.shape[a] = extent_of(t.shape[a]);
        make_contiguous(other);
        other.data = images.emplace_back(static_cast<std::size_t>(other.bytes())).data();
        for (std::int64_t n = 0; n < other.size(); ++n) {
          Index index = other.index(n);
          index[a] = from(index[a], t.shape[a]);
          other.set(n, at(t, index));
        }
        *tensors[k] = other;
      }
      return !images.empty();
    });
  }
  static double at(const Tensor& t, const Index& index) {
    std::int64_t offset = 0;
    for (std::size_t a = 0; a < static_cast<std::size_t>(t.rank); ++a) offset += index[a] * t.stride[a];
    return decode(t.dtype, t.data, offset);
  }

  void numbers(const Attribute& a) {
    const auto at = case_.attributes.find(std::string(a.name));
    const double asked = at == case_.attributes.end() ? a.standard : at->second;
    std::vector<std::pair<double, std::string>> tries{{0, ""}, {1, ""}, {a.standard, ""}};
    for (const double v : {asked + 1, asked - 1, 2 * asked, asked / 2, asked * asked}) tries.emplace_back(v, "");
    for (const AxisUse& use : op_.axes) {
      const auto extent = static_cast<double>(case_.dims[use.axis]);
      if (extent < 2) continue;
      tries.emplace_back(1 / extent, fmt::format(" (1/{})", use.axis.name));
      tries.emplace_back(1 / std::sqrt(extent), fmt::format(" (1/sqrt({}))", use.axis.name));
      tries.emplace_back(std::sqrt(extent), fmt::format(" (sqrt({}))", use.axis.name));
      tries.emplace_back(extent, fmt::format(" ({})", use.axis.name));
      tries.emplace_back(asked / extent, fmt::format(" (divided by {})", use.axis.name));
      tries.emplace_back(asked * extent, fmt::format(" (multiplied by {})", use.axis.name));
    }
    for (const auto& [v, of] : tries) {
      if (found_ || v == asked) continue;
      Case c = case_;
      c.attributes[std::string(a.name)] = v;
      ask(fmt::format("{}={}{}, where {} is asked", a.name, number_text(v), of,
                      at == case_.attributes.end() ? "the default" : number_text(asked)),
          c, [](std::span<Tensor* const>) { return true; });
    }
  }

  void values(std::size_t i) {
    const std::string t = name_of(i);
    ask_values(t + " left out (taken as 0)", i, [](double, const Index&) { return 0.0; });
    if (is_integer(i)) {
      for (const int by : {1, -1})
        ask_values(fmt::format("{} {} than it is", t, by > 0 ? "one larger" : "one smaller"), i,
                   [by](double v, const Index&) { return v + by; });
      return;
    }
    ask_values(t + " left out (taken as 1)", i, [](double, const Index&) { return 1.0; });
    ask_values(t + " added twice, or doubled", i, [](double v, const Index&) { return 2 * v; });
    ask_values(t + " multiplied by twice", i, [](double v, const Index&) { return v * v; });
    ask_values("1 + " + t + " in its place", i, [](double v, const Index&) { return v + 1; });
    ask_values(t + " with the other sign", i, [](double v, const Index&) { return -v; });
    for (const DType to : {DType::f16, DType::bf16})
      ask_values(fmt::format("{} times log2(e) rounded to {}", t, name(to)), i,
                 [by = round_to(to, kLog2E) / kLog2E](double v, const Index&) { return by * v; });
    if (placements_[i].tensor.rank < 2) return;
    const std::vector<double> means = row_means(i);
    ask_values(fmt::format("{} less its mean along {}", t, axis_of(i, placements_[i].tensor.rank - 1)), i,
               [&](double v, const Index& index) { return v - means[row_of(given(i), index)]; });
  }

  static std::size_t row_of(const Tensor& t, const Index& index) {
    std::int64_t row = 0;
    for (std::size_t a = 0; a + 1 < static_cast<std::size_t>(t.rank); ++a) row = row * t.shape[a] + index[a];
    return static_cast<std::size_t>(row);
  }
  std::vector<double> row_means(std::size_t i) const {
    const Tensor t = given(i);
    const std::int64_t cols = t.shape[static_cast<std::size_t>(t.rank - 1)];
    std::vector<double> means(static_cast<std::size_t>(t.size() / cols));
    for (std::int64_t k = 0; k < t.size(); ++k) means[static_cast<std::size_t>(k / cols)] += t.at(k) / static_cast<double>(cols);
    return means;
  }

  void strides(std::size_t i) {
    const Tensor t = given(i);
    const auto with = [&](const std::string& what, const std::array<std::int64_t, kMaxRank>& stride) {
      std::int64_t last = 0;
      bool same = true;
      for (int a = 0; a < t.rank; ++a) {
        last += (t.shape[a] - 1) * stride[a];
        same = same && (t.shape[a] <= 1 || stride[a] == t.stride[a]);
      }
      if (same || (last + 1) * size_of(t.dtype) > static_cast<std::int64_t>(placements_[i].bytes)) return;
      Tensor other = t;
      other.stride = stride;
      ask_with(what, i, other);
    };
    for (std::size_t u = 0; u < placements_.size(); ++u)
      if (const Tensor& o = placements_[u].tensor; u != i && o.rank == t.rank)
        with(fmt::format("{} read with the strides of {}", name_of(i), name_of(u)), o.stride);
    Tensor packed = t;
    make_contiguous(packed);
    with(name_of(i) + " read as if there were no gaps between its rows", packed.stride);
    if (t.rank < 2) return;
    const auto r = static_cast<std::size_t>(t.rank);
    Tensor turned = packed;
    turned.stride[r - 1] = t.shape[r - 2];
    turned.stride[r - 2] = 1;
    with(name_of(i) + " read as its transpose", turned.stride);
    for (std::size_t a = 0; a + 2 < r; ++a) {
      turned = packed;
      std::swap(turned.stride[a], turned.stride[a + 1]);
      if (t.shape[a] == t.shape[a + 1])
        with(fmt::format("{} read with {} and {} exchanged", name_of(i), axis_of(i, static_cast<int>(a)),
                         axis_of(i, static_cast<int>(a + 1))),
             turned.stride);
    }
  }

  void others(std::size_t i) {
    const Tensor t = given(i);
    for (std::size_t u = 0; u < placements_.size(); ++u) {
      if (u == i || !usable(u)) continue;
      const Tensor o = given(u);
      if (o.rank == t.rank && o.shape == t.shape && o.dtype == t.dtype)
        ask_with(fmt::format("{} read where {} belongs", name_of(u), name_of(i)), i, o);
    }
  }

  void places(std::size_t i) {
    const Tensor t = given(i);
    for (int a = 0; a < t.rank; ++a) {
      const auto axis = static_cast<std::size_t>(a);
      const std::int64_t extent = t.shape[axis];
      if (extent < 2) continue;
      ask_values(fmt::format("{} read at {} 0 for every one", name_of(i), axis_of(i, a)), i, [&](double, Index index) {
        index[axis] = 0;
        return at(t, index);
      });
      for (const int by : {1, -1})
        ask_values(fmt::format("{} read at one {} {}", name_of(i), by > 0 ? "more on" : "less on", axis_of(i, a)), i,
                   [&](double, Index index) {
                     index[axis] = std::clamp<std::int64_t>(index[axis] + by, 0, extent - 1);
                     return at(t, index);
                   });
      ask_values(fmt::format("{} read backwards along {}", name_of(i), axis_of(i, a)), i, [&](double, Index index) {
        index[axis] = extent - 1 - index[axis];
        return at(t, index);
      });
    }
    if (!is_integer(i)) return;
    ask_values(
        name_of(i) + " ignored: 0, 1, 2 ... in its place", i,
        [last = static_cast<std::size_t>(t.rank) - 1](double, const Index& index) { return static_cast<double>(index[last]); });
  }

  // Loops that leave out the end, or the beginning, of an axis.
  void tails(std::size_t i) {
    if (is_integer(i)) return;
    const Tensor t = given(i);
    for (int a = t.rank - 1; a >= 0; --a) {
      const auto axis = static_cast<std::size_t>(a);
      const std::int64_t extent = t.shape[axis];
      std::vector<std::int64_t> ends{extent - 1};
      for (std::int64_t width = 2; width <= 1024; width *= 2)
        if (extent > width && extent % width > 1) ends.push_back(extent / width * width);
      for (const double nothing : {0.0, -std::numeric_limits<double>::infinity()}) {
        for (const std::int64_t end : ends)
          if (end > 0)
            ask_values(fmt::format("{} read only up to {} {} of {}", name_of(i), axis_of(i, a), end, extent), i,
                       [&](double v, const Index& index) { return index[axis] < end ? v : nothing; });
        if (extent > 1)
          ask_values(fmt::format("{} read without its first {}", name_of(i), axis_of(i, a)), i,
                     [&](double v, const Index& index) { return index[axis] > 0 ? v : nothing; });
      }
    }
  }

  // A weight times a constant: what it multiplies is off by that.
  void factors(std::size_t i) {
    if (op_.tensors[i].role != Role::weight || is_integer(i)) return;
    Extents extents;
    for (const AxisUse& use : op_.axes) extents.emplace_back(use.axis.name, case_.dims[use.axis]);
    for (const auto& [factor, text] : known_factors(extents))
      ask_values(fmt::format("what {} multiplies, times {:.6g} ({})", name_of(i), factor, text), i,
                 [f = factor](double v, const Index&) { return f * v; });
  }

  // One key less, or one more that repeats the last: a mask aligned at its end shows one key less, or more, to every query.
  void keys(int by) {
    const bool masked = case_.attributes.contains("mask");
    if (case_.dims[Axis::seq_k] + by < 1 || (by > 0 && !masked)) return;
    ask_resized(
        by < 0 ? (masked ? "a mask one key too early, or the last key left out" : "the last key left out")
               : "a mask one key too late: each query sees the one after its last",
        Axis::seq_k, [by](std::int64_t extent) { return extent + by; },
        [](std::int64_t n, std::int64_t extent) { return std::min(n, extent - 1); });
  }

  void roundings(std::size_t i) {
    if (is_integer(i)) return;
    for (const DType to : {DType::f16, DType::bf16})
      if (to != placements_[i].tensor.dtype)
        ask_values(fmt::format("{} rounded to {}", name_of(i), name(to)), i,
                   [to](double v, const Index&) { return round_to(to, v); });
  }

  // Other heads of k and v for a head of q.  All tensors with that axis change together.
  void groups() {
    const std::int64_t heads = case_.dims[Axis::heads], kv_heads = case_.dims[Axis::kv_heads];
    if (kv_heads < 2 || heads <= kv_heads) return;
    const auto with = [&](const std::string& what, const auto& of) {
      ask_resized(
          what, Axis::kv_heads, [&](std::int64_t) { return heads; },
          [&](std::int64_t h, std::int64_t) -> std::int64_t { return of(h); });
    };
    with("head h taking kv_head h mod kv_heads, not h / (heads / kv_heads)", [&](std::int64_t h) { return h % kv_heads; });
    with("every head taking kv_head 0", [](std::int64_t) { return std::int64_t{0}; });
    with("head h taking kv_head h, or the last one", [&](std::int64_t h) { return std::min(h, kv_heads - 1); });
    const std::int64_t group = heads / kv_heads;
    with("head h taking one kv_head more than h / (heads / kv_heads)",
         [&](std::int64_t h) { return std::min(h / group + 1, kv_heads - 1); });
  }

  const Op& op_;
  const Case& case_;
  std::span<const Placement> placements_;
  std::span<std::byte* const> images_;
  const std::function<bool(const std::string&, Problem&)>& is_it_;
  bool found_ = false;
};

}  // namespace

std::vector<std::pair<double, std::string>> known_factors(const Extents& extents) {
  std::vector<std::pair<double, std::string>> known{{kLog2E, "log2(e)"},
                                                    {0.6931471805599453, "ln 2"},
                                                    {1.4142135623730951, "sqrt(2)"},
                                                    {0.7071067811865476, "1/sqrt(2)"},
                                                    {2.302585092994046, "ln 10"}};
  for (const auto& [axis, extent] : extents) {
    if (extent < 3) continue;
    const auto n = static_cast<double>(extent);
    known.emplace_back(n, axis);
    known.emplace_back(1 / n, fmt::format("1/{}", axis));
    known.emplace_back(std::sqrt(n), fmt::format("sqrt({})", axis));
    known.emplace_back(1 / std::sqrt(n), fmt::format("1/sqrt({})", axis));
    known.emplace_back((n - 1) / n, fmt::format("({0}-1)/{0}", axis));
    known.emplace_back(n / (n - 1), fmt::format("{0}/({0}-1)", axis));
    known.emplace_back(std::sqrt((n - 1) / n), fmt::format("sqrt(({0}-1)/{0})", axis));
    known.emplace_back(std::sqrt(n / (n - 1)), fmt::format("sqrt({0}/({0}-1))", axis));
    known.emplace_back((n + 1) / n, fmt::format("({0}+1)/{0}", axis));
    known.emplace_back(n / (n + 1), fmt::format("{0}/({0}+1)", axis));
  }
  return known;
}

void each_altered(const Op& op, const Case& c, std::span<const Placement> placements, std::span<std::byte* const> images,
                  const std::function<bool(const std::string& what, Problem& problem)>& is_it) {
  Alterations(op, c, placements, images, is_it).go();
}

}  // namespace assay
