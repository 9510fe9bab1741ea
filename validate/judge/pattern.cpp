// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "validate/judge/compare.hpp"
#include "validate/judge/prepare.hpp"
#include "validate/problem/altered.hpp"
#include "validate/worker/protocol.hpp"

namespace assay {
namespace {

struct AxisWords {
  std::string one, many;
};
AxisWords words(const Extent& e) {
  const std::string_view one = e.axis.singular.empty() ? e.axis.name : e.axis.singular;
  const std::string_view many = e.axis.plural.empty() ? e.axis.name : e.axis.plural;
  if (e.divisor == 1) return {std::string(one), std::string(many)};
  return {fmt::format("{} block", one), fmt::format("{} blocks", one)};
}

// 262144 as 262,144.
std::string grouped(std::int64_t n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}
std::string ordinal(std::int64_t n) {
  const std::int64_t tens = n % 100, ones = n % 10;
  const bool teen = tens >= 11 && tens <= 13;
  return fmt::format("{}{}", n, teen ? "th" : ones == 1 ? "st" : ones == 2 ? "nd" : ones == 3 ? "rd" : "th");
}

enum class Seen : char { unjudged, right, wrong };

// Which indices of one axis have a wrong element, and which only right ones.
struct AxisSet {
  Extent axis;
  std::int64_t tile;
  std::vector<Seen> seen;

  std::int64_t extent() const { return static_cast<std::int64_t>(seen.size()); }
  bool wrong(std::int64_t i) const { return seen[static_cast<std::size_t>(i)] == Seen::wrong; }
  std::int64_t count(Seen what) const { return std::count(seen.begin(), seen.end(), what); }
  bool all() const { return count(Seen::right) == 0; }
  std::int64_t first() const { return std::find(seen.begin(), seen.end(), Seen::wrong) - seen.begin(); }
  std::int64_t last() const { return seen.rend() - std::find(seen.rbegin(), seen.rend(), Seen::wrong) - 1; }
  bool interval() const {
    return std::find(seen.begin() + first(), seen.begin() + last() + 1, Seen::right) == seen.begin() + last() + 1;
  }
  bool to_the_end() const { return interval() && std::find(seen.begin() + last(), seen.end(), Seen::right) == seen.end(); }
  std::int64_t tiles() const { return tile > 0 ? (extent() + tile - 1) / tile : 0; }
  // Whether the wrong indices are exactly the tiles from..to.
  bool whole_tiles(std::int64_t& from, std::int64_t& to) const {
    if (tile < 2 || tiles() < 2 || all() || !interval() || first() % tile) return false;
    from = first() / tile;
    to = last() / tile;
    return to_the_end() || (last() + 1) % tile == 0;
  }
  // The least period of right and wrong that repeats at least three times; 0: none.  Sets `pattern` to one period.
  std::int64_t period(std::vector<Seen>& pattern) const {
    constexpr std::int64_t kMost = 512;
    for (std::int64_t m = 2; m <= std::min(kMost, extent() / 3); ++m) {
      pattern.assign(static_cast<std::size_t>(m), Seen::unjudged);
      bool holds = true;
      for (std::int64_t i = 0; i < extent() && holds; ++i) {
        Seen& at = pattern[static_cast<std::size_t>(i % m)];
        const Seen here = seen[static_cast<std::size_t>(i)];
        if (at == Seen::unjudged) at = here;
        else holds = here == Seen::unjudged || here == at;
      }
      if (holds) return m;
    }
    return 0;
  }
};

// The wrong indices in words: "queries ≥ 128 (tile 1)", "heads 3 and 7", "cols 32..63 of every 64".
std::string set_text(const AxisSet& s) {
  const auto [one, many] = words(s.axis);
  const std::int64_t n = s.count(Seen::wrong), first = s.first(), last = s.last();
  std::int64_t from = 0, to = 0;
  std::string tiles;
  if (s.whole_tiles(from, to)) tiles = from == to ? fmt::format(" (tile {})", from) : fmt::format(" (tiles {}..{})", from, to);
  if (first == last)
    return fmt::format("{}{} {}{}", last + 1 == s.extent() && s.extent() > 2 ? "the last " : "", one, first, tiles);
  if (s.to_the_end()) return fmt::format("{} ≥ {}{}", many, first, tiles);
  if (s.interval())
    return first == 0 ? fmt::format("{} < {}{}", many, last + 1, tiles) : fmt::format("{} {}..{}{}", many, first, last, tiles);
  std::vector<Seen> repeated;
  if (const std::int64_t m = s.period(repeated)) {
    const AxisSet one_period{s.axis, 0, repeated};
    if (one_period.first() == one_period.last()) return fmt::format("every {} {} from {}", ordinal(m), one, one_period.first());
    if (one_period.interval()) return fmt::format("{} {}..{} of every {}", many, one_period.first(), one_period.last(), m);
    return fmt::format("{} of every {} {}", one_period.count(Seen::wrong), m, many);
  }
  constexpr std::int64_t kListed = 4;
  if (n > kListed) return fmt::format("{} of {} {} ({}..{})", grouped(n), grouped(s.extent()), many, first, last);
  std::string text(many);
  std::int64_t k = 0;
  for (std::int64_t i = first; i <= last; ++i)
    if (s.wrong(i)) {
      text += fmt::format("{} {}", k == 0 ? "" : k + 1 == n ? " and" : ",", i);
      ++k;
    }
  return text;
}

// The constant or the function of an extent that a factor is, such as " (sqrt((cols-1)/cols))"; empty: none is known.
std::string known_factor(double factor, const Frame& frame) {
  constexpr double kClose = 0.02, kSame = 2e-3;  // of the distance from 1; of the factor itself
  const std::vector<std::pair<double, std::string>> known = known_factors(frame.extents);
  const std::pair<double, std::string>* best = nullptr;
  const auto away = [&](const auto& k) { return std::fabs(k.first - factor); };
  for (const auto& k : known)
    if (away(k) <= kClose * std::fabs(k.first - 1) && away(k) <= kSame * k.first && (!best || away(k) < away(*best))) best = &k;
  return best ? fmt::format(" ({})", best->second) : "";
}

// What the values of the wrong elements have in common.
struct Values {
  static constexpr std::size_t kMost = 1 << 16;  // elements that are kept
  bool nan = true, zero = true, all_ones = true;
  // Of a second run, which begins with other bytes, but in parts of the rows with those of the first (OrderRun::keeps): whether
  // each element holds one or the other, and whether some hold the other.
  bool either_old = true, some_other = false;
  struct Finite {
    double got, golden, bound;
    std::int64_t row;  // of all axes but the last
  };
  std::vector<Finite> finite;  // wrong elements with a golden far from zero

  void add(const Element& e, const Tensor& got, const Tensor* second) {
    const auto filled = [&](const Tensor& t, std::byte with) {
      const auto* bytes = static_cast<const std::byte*>(t.data) + t.offset(e.i) * size_of(t.dtype);
      return std::all_of(bytes, bytes + size_of(t.dtype), [&](std::byte b) { return b == with; });
    };
    all_ones = all_ones && filled(got, kGarbage[0]);
    const bool other = !second || filled(*second, kGarbage[1]);
    some_other = some_other || other;
    either_old = either_old && (other || filled(*second, kGarbage[0]));
    nan = nan && std::isnan(e.got) && !std::isnan(e.golden);
    zero = zero && e.got == 0 && e.golden != 0;
    if (!std::isfinite(e.got) || !std::isfinite(e.golden) || !(std::fabs(e.golden) > 16 * e.bound)) return;
    if (finite.size() < kMost)
      finite.push_back(
          {e.got, e.golden, e.bound, e.i / std::max<std::int64_t>(1, got.shape[static_cast<std::size_t>(got.rank - 1)])});
  }
  template <class Of>
  double median(Of of) const {
    std::vector<double> all;
    for (const Finite& f : finite) all.push_back(of(f));
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
    return all[all.size() / 2];
  }
  // Whether nine in ten elements are right but for a factor and an offset.  A bound grows with the factor, and what was fitted
  // to one element has that one's error.
  bool explained(double factor, double offset) const {
    return 10 * count_explained(factor, offset) >= 9 * static_cast<std::ptrdiff_t>(finite.size());
  }
  std::ptrdiff_t count_explained(double factor, double offset) const {
    const auto right = [&](const Finite& f) {
      return std::fabs(f.got - factor * f.golden - offset) <= 2 * f.bound * std::max(1.0, std::fabs(factor));
    };
    return std::count_if(finite.begin(), finite.end(), right);
  }
  // "every row times a factor of its own, ..." where nine in ten elements are right but for that; rows of few elements prove
  // nothing.  Note: the elements lie in the order of their rows.
  std::string by_rows() const {
    constexpr std::ptrdiff_t kFew = 6;
    std::ptrdiff_t right = 0;
    double least = HUGE_VAL, most = -HUGE_VAL;
    int rows = 0;
    for (auto from = finite.begin(); from != finite.end();) {
      const auto to = std::find_if(from, finite.end(), [&](const Finite& f) { return f.row != from->row; });
      Values row;
      row.finite.assign(from, to);
      from = to;
      if (row.finite.size() < kFew) continue;
      const double factor = row.median([](const Finite& f) { return f.got / f.golden; });
      right += row.count_explained(factor, 0);
      least = std::min(least, factor);
      most = std::max(most, factor);
      ++rows;
    }
    if (rows < 2 || 10 * right < 9 * static_cast<std::ptrdiff_t>(finite.size())) return {};
    return fmt::format("every row times a factor of its own, {} to {}: a sum, mean, maximum or root of the row",
                       factor_text(least), factor_text(most));
  }
  // With as many digits as it takes to tell it from 1.
  static std::string factor_text(double factor) {
    const std::string text = fmt::format("{:.3g}", factor);
    return text == "1" ? fmt::format("{:.6g}", factor) : text;
  }
  // Note: a NaN that was read from memory that nobody wrote has the same bits, but not those that a second run finds in the
  // output.
  bool unwritten() const { return all_ones && either_old && some_other; }
  bool left_alone() const { return unwritten() || nan || zero; }
  std::string text(std::int64_t wrong, const Frame& frame) const {
    if (unwritten()) return std::string(kNeverWritten);
    if (nan && all_ones) return "NaN with the bits of memory that nobody wrote: a gap between rows, or shared memory";
    if (nan) return "NaN where a number belongs: inf / inf or inf - inf after an overflow, 0 / 0, or one that was read";
    if (zero) return "elements that stay zero";
    if (finite.size() < 3 || (finite.size() < kMost && static_cast<std::int64_t>(finite.size()) < wrong / 2)) return {};
    const double factor = median([](const Finite& f) { return f.got / f.golden; });
    if (explained(factor, 0)) return "everything times " + factor_text(factor) + known_factor(factor, frame);
    const double offset = median([](const Finite& f) { return f.got - f.golden; });
    if (explained(1, offset)) return fmt::format("everything {:+.3g}", offset);
    return by_rows();
  }
};

// What usually puts wrong elements at these indices; empty: nothing known.  `left_alone`: they hold what no computation gives.
std::string place_reading(const std::vector<AxisSet>& sets, bool left_alone) {
  for (const AxisSet& s : sets) {
    const std::string one = words(s.axis).one;
    std::int64_t from = 0, to = 0;
    if (s.all()) continue;
    if (s.whole_tiles(from, to)) {
      const bool ragged = s.extent() % s.tile != 0;
      if (from == to && to + 1 == s.tiles()) return fmt::format("the {}last {} tile", ragged ? "ragged " : "", one);
      if (to + 1 == s.tiles()) return fmt::format("a step between {} tiles, missing or wrong from tile {} on", one, from);
      return from == to ? fmt::format("one {} tile", one) : fmt::format("some {} tiles", one);
    }
    if (s.tile > 1 && s.tiles() > 1 && s.to_the_end() && s.first() / s.tile + 1 == s.tiles())
      return fmt::format("the tail of the last {} tile", one);
    std::vector<Seen> repeated;
    if (!s.interval() && s.period(repeated)) return fmt::format("a lane, or a part of a vector: {}s repeat", one);
    if (left_alone && s.first() == s.last() && s.last() + 1 == s.extent())
      return fmt::format("a loop over {} that ends one early", words(s.axis).many);
  }
  return {};
}

// Whether all wrong elements lie on one diagonal of the last two axes, such as key = query + 3.
struct Diagonal {
  bool holds = true, any = false;
  std::int64_t offset = 0;
  void add(std::int64_t row, std::int64_t column) {
    if (!any) {
      offset = column - row;
      any = true;
    }
    holds = holds && column - row == offset;
  }
};

std::string share_text(double share) {
  return share < 0.01 ? "a few" : fmt::format("{:.0f} %", std::clamp(100 * share, 1.0, 99.0));
}

constexpr std::int64_t kFewest = 4;  // wrong elements by which what the kernel computed is known
constexpr double kMostFlops = 1e7;   // of a problem of which others are made

// Whether tensors are present, or lie, as the choice says.
bool places_tensors(const Op& op, std::string_view choice) {
  return std::any_of(op.tensors.begin(), op.tensors.end(), [&](const TensorSpec& t) {
    return t.options.present_if == choice || t.options.in_place_if == choice || t.options.merged_if == choice;
  });
}

// Whether with this word of a choice no more than one wrong element of 64 would be wrong.
bool right_with(const Prepared& p, const Numerics& numerics, std::span<const NumberedOutput> outputs, std::int64_t wrong,
                std::string_view choice, double word) {
  constexpr std::int64_t kOneIn = 64;
  Case c = p.task->c;
  c.attributes[std::string(choice)] = word;
  const std::unique_ptr<Problem> other = p.task->op->make();
  attach(*other, c, p.packing.placements, p.given);
  if (!other->legal()) return false;
  other->set_errors(p.problem->errors());
  other->solve(p.problem->rows().sample);
  std::int64_t still_wrong = 0;
  bool finite = false;
  for (const NumberedOutput& y : outputs) {
    const Comparison compared = compare(*other, numerics, y.number, y.got, false);
    still_wrong += compared.wrong;
    finite = finite || compared.finite;
  }
  return finite && still_wrong <= wrong / kOneIn;
}

// Rows with wrong elements, that of the worst one first, and a few others.
std::vector<std::int64_t> rows_to_ask(const Problem& judging, const Numerics& numerics, bool exact,
                                      std::span<const NumberedOutput> outputs, std::int64_t row_of_worst) {
  constexpr std::size_t kWrong = 8, kAll = 12;
  std::vector<std::int64_t> wrong{row_of_worst}, right;
  const auto add = [](std::vector<std::int64_t>& to, std::size_t most, std::int64_t row) {
    if (to.size() < most && std::find(to.begin(), to.end(), row) == to.end()) to.push_back(row);
  };
  for (const NumberedOutput& y : outputs)
    each_judged(judging, numerics, y.number, y.got, exact, [&](const Element& e) {
      if (wrong.size() < kWrong || right.size() < kAll)
        add(e.wrong ? wrong : right, e.wrong ? kWrong : kAll, judging.row_of(y.number, e.i));
    });
  for (const std::int64_t row : right) add(wrong, kAll, row);
  return wrong;
}

// Whether the outputs in some rows are right for another problem: at least so many wrong elements are, and of all wrong ones at
// most one of eight is not.  An element may be off by kWider times the case's own bound and the rounding of the output.
bool right_in(Problem& other, std::vector<std::int64_t> rows, const Problem& judging, const Numerics& numerics,
              std::span<const NumberedOutput> outputs, std::int64_t fewest) {
  constexpr std::int64_t kOneIn = 8;
  constexpr double kWider = 4;
  std::sort(rows.begin(), rows.end());
  other.set_errors(judging.errors());
  other.solve(std::move(rows));
  std::int64_t wrong = 0, still = 0, mended = 0;
  for (const NumberedOutput& y : outputs) {
    const std::span<const double> goldens = judging.golden(y.number), bounds = judging.bounds(numerics, y.number);
    each_judged(other, numerics, y.number, y.got, false, [&](const Element& e) {
      const double golden = goldens[static_cast<std::size_t>(e.i)], bound = bounds[static_cast<std::size_t>(e.i)];
      const double room = kWider * (bound + unit_roundoff(y.got.dtype) * std::fabs(e.got));
      const bool was_wrong = !(std::fabs(e.got - golden) <= bound);
      const bool both_nan = std::isnan(e.got) && std::isnan(e.golden);
      const bool is_wrong = e.wrong || !(both_nan || std::fabs(e.got - e.golden) <= room);
      wrong += was_wrong;
      still += is_wrong;
      mended += was_wrong && !is_wrong && !both_nan;  // Note: many faults give a NaN
    });
  }
  return mended >= fewest && still <= wrong / kOneIn;
}

}  // namespace

Frame frame_of(const TensorSpec& output, const Kernel& kernel, DType of_case) {
  Frame frame{.axes = output.axes, .tiles = std::vector<std::int64_t>(output.axes.size())};
  for (std::size_t a = 0; a < frame.axes.size(); ++a)
    for (const Tile& tile : kernel.tiles)
      if (tile.bytes_or_extent && frame.axes[a].is_axis() && tile.axis == frame.axes[a].axis)
        frame.tiles[a] = tile.extent(of_case);
  return frame;
}

std::string index_text(std::span<const Extent> axes, std::span<const std::int64_t> index) {
  std::string text;
  for (std::size_t a = 0; a < std::min(axes.size(), index.size()); ++a)
    text += fmt::format("{}{} {}", a ? ", " : "", words(axes[a]).one, index[a]);
  return text;
}

std::string tile_text(const Frame& frame, const Dims& dims, std::span<const std::int64_t> index) {
  std::string text;
  for (std::size_t a = 0; a < std::min(frame.axes.size(), index.size()); ++a) {
    const std::int64_t tile = frame.tiles[a], extent = frame.axes[a].of(dims);
    if (tile <= 1 || extent <= tile) continue;
    const auto [one, many] = words(frame.axes[a]);
    const std::int64_t t = index[a] / tile, last = std::min(extent, (t + 1) * tile) - 1;
    const std::string_view which = index[a] == t * tile ? "first of " : index[a] == last ? "last of " : "in ";
    text += fmt::format("{}{}{} tile {} ({} {}..{})", text.empty() ? "" : ", ", which, one, t, many, t * tile, last);
  }
  return text;
}

Pattern pattern(const Problem& problem, const Numerics& numerics, int output, const Tensor& got, bool exact, const Frame& frame,
                const Tensor* second) {
  const std::size_t rank = frame.axes.size();
  std::vector<AxisSet> sets;
  for (std::size_t a = 0; a < rank; ++a)
    sets.push_back({frame.axes[a], frame.tiles[a], std::vector<Seen>(static_cast<std::size_t>(got.shape[a]), Seen::unjudged)});
  const auto seen = [&](const auto& index, std::size_t a) -> Seen& { return sets[a].seen[static_cast<std::size_t>(index[a])]; };
  std::int64_t wrong = 0, judged = 0;
  Values values;
  Diagonal diagonal;
  each_judged(problem, numerics, output, got, exact, [&](const Element& e) {
    ++judged;
    const auto index = got.index(e.i);
    for (std::size_t a = 0; a < rank; ++a) {
      Seen& at = seen(index, a);
      if (e.wrong || at == Seen::unjudged) at = e.wrong ? Seen::wrong : Seen::right;
    }
    if (!e.wrong) return;
    ++wrong;
    values.add(e, got, second);
    if (rank >= 2) diagonal.add(index[rank - 2], index[rank - 1]);
  });

  // How many judged elements have, on every axis, an index with some wrong element.  If all of these are wrong, the wrong
  // indices of each axis describe the pattern completely.
  std::int64_t within = 0;
  if (judged == got.size()) {
    within = 1;
    for (const AxisSet& s : sets) within *= s.count(Seen::wrong);
  } else {
    each_judged(problem, numerics, output, got, exact, [&](const Element& e) {
      const auto index = got.index(e.i);
      bool in = true;
      for (std::size_t a = 0; a < rank; ++a) in = in && seen(index, a) == Seen::wrong;
      within += in;
    });
  }
  std::string where;
  for (const AxisSet& s : sets)
    if (!s.all() || (wrong == 1 && s.extent() > 1)) where += (where.empty() ? "" : ", ") + set_text(s);

  Pattern p{fmt::format("{} of {} wrong: ", grouped(wrong), grouped(judged)), values.text(wrong, frame)};
  const bool whole = within == wrong;
  if (rank >= 2 && diagonal.holds && wrong > 1 && !whole) {
    const std::string row = words(frame.axes[rank - 2]).one, column = words(frame.axes[rank - 1]).one;
    p.text += fmt::format("those with {} = {}{}", column, row, diagonal.offset ? fmt::format(" {:+}", diagonal.offset) : "");
    if (p.reads_like.empty()) p.reads_like = "a mask whose diagonal is one off";
    return p;
  }
  if (whole && where.empty()) p.text += "every element";
  else if (whole) p.text += wrong == 1 ? where : "every element of " + where + "; none elsewhere";
  else {
    const std::string share = share_text(static_cast<double>(wrong) / static_cast<double>(within));
    p.text += share + (where.empty() ? " of all, scattered" : " of those in " + where + "; none elsewhere");
  }
  if (const std::string place = place_reading(sets, values.left_alone()); !place.empty())
    p.reads_like += (p.reads_like.empty() ? "" : "; ") + place;
  return p;
}

std::string right_with_other_choice(const Prepared& p, const Numerics& numerics, std::span<const NumberedOutput> outputs,
                                    std::int64_t wrong) {
  constexpr double kMostValues = 1 << 20;
  const Op& op = *p.task->op;
  const Case& c = p.task->c;
  if (op.composite || wrong < kFewest || p.problem->cost().flops > kMostFlops || elements(c, op.shape()) > kMostValues) return {};
  for (const Attribute& a : op.attributes) {
    if (places_tensors(op, a.name)) continue;
    const double asked = attribute(c, a.name, a.standard);
    for (std::size_t word = 0; word < a.choices.size(); ++word)
      if (const auto other = static_cast<double>(word); other != asked && right_with(p, numerics, outputs, wrong, a.name, other))
        return fmt::format("{0}={1}, where {0}={2} is asked", a.name, text_of(a, other), text_of(a, asked));
  }
  return {};
}

std::string right_with_usual_fault(const Prepared& p, const Problem& judging, const Numerics& numerics,
                                   std::span<const NumberedOutput> outputs, std::int64_t row_of_worst) {
  const Op& op = *p.task->op;
  if (op.composite || p.problem->cost().flops > kMostFlops) return {};
  const std::vector<std::int64_t> rows = rows_to_ask(judging, numerics, p.asks_exact(numerics), outputs, row_of_worst);
  std::string fault;
  each_altered(op, p.task->c, p.packing.placements, p.given, [&](const std::string& what, Problem& other) {
    if (!right_in(other, {row_of_worst}, judging, numerics, outputs, 1) ||
        !right_in(other, rows, judging, numerics, outputs, kFewest))
      return false;
    fault = what;
    return true;
  });
  return fault;
}

}  // namespace assay
