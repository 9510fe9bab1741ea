// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/shrink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "validate/base/error.hpp"
#include "validate/judge/pattern.hpp"
#include "validate/values/random.hpp"

namespace assay {
namespace {

// Cases compare by this: fewer elements, then fewer attributes, fills and layouts that are not the default, then shorter axes.
auto size_of_case(const Case& c, const OpShape& op) {
  const int fill = c.fill == "normal" ? 0 : c.fill == "ramp" ? 1 : 2;
  std::int64_t sum = 0;
  for (const AxisUse& use : op.axes) sum += c.dims[use.axis];
  return std::tuple(elements(c, op), static_cast<int>(c.attributes.size()) + fill + (c.layout != "contiguous"), sum);
}

bool sound(const Case& c, const OpShape& op) {
  try {
    check(c, op);
    return true;
  } catch (const BadInput&) {
    return false;
  }
}

std::int64_t tile_of(const Kernel& k, Axis axis, DType t) {
  for (const Tile& tile : k.tiles)
    if (tile.bytes_or_extent && tile.axis == axis) return tile.extent(t);
  return 0;
}

// Shorter extents to try, ascending: powers of two and one more, one and two tiles of the kernel and their neighbours, half,
// three quarters, multiples of 8 and 16, one less.
std::set<std::int64_t> shorter(std::int64_t extent, std::int64_t tile, std::int64_t least) {
  std::set<std::int64_t> values{3, extent / 2, extent - 1, extent - extent / 4, extent / 16 * 16, extent / 8 * 8};
  for (std::int64_t power = 1; power < extent; power *= 2) values.insert({power, power + 1});
  for (std::int64_t n = 1; tile > 0 && n <= 2; ++n) values.insert({n * tile - 1, n * tile, n * tile + 1});
  std::erase_if(values, [&](std::int64_t v) { return v < std::max<std::int64_t>(1, least) || v >= extent; });
  return values;
}

void make_plain(Case& c) {
  c.attributes.clear();
  c.fill = "normal";
  c.layout = "contiguous";
}

// A smaller case to try, in which one thing is changed, or everything.  `group` names it: an axis, an attribute, "fill".  Of the
// moves of a group, only the first that still fails counts.
struct Move {
  std::string group;
  Case c;
};
constexpr std::string_view kEverything = "everything", kItself = "itself";

// All axes short at once.  A bug that does not depend on sizes is shrunk by this in one step.
void add_jumps(std::vector<Move>& moves, const Case& from, const OpShape& op, const Kernel& kernel) {
  for (const bool tiled : {false, true})
    for (const bool plain : {true, false}) {
      Case c = from;
      for (const AxisUse& use : op.axes) {
        const std::int64_t tile = tile_of(kernel, use.axis, c.dtype), to = use.within(tiled && tile ? tile + 1 : 1);
        if (c.dims[use.axis] > to) c.dims[use.axis] = to;
      }
      if (plain) make_plain(c);
      moves.push_back({std::string(kEverything), c});
    }
}

std::vector<Move> moves_from(const Case& from, const OpShape& op, const Kernel& kernel) {
  std::vector<Move> moves;
  add_jumps(moves, from, op, kernel);
  for (const auto& [attribute, value] : from.attributes) {
    Case c = from;
    c.attributes.erase(attribute);
    moves.push_back({attribute, c});
  }
  for (const char* fill : {"normal", "ramp"}) {
    Case c = from;
    c.fill = fill;
    moves.push_back({"fill", c});
  }
  Case contiguous = from;
  contiguous.layout = "contiguous";
  moves.push_back({"layout", contiguous});
  for (const AxisUse& use : op.axes)
    for (const std::int64_t extent : shorter(from.dims[use.axis], tile_of(kernel, use.axis, from.dtype), use.least)) {
      Case c = from;
      c.dims[use.axis] = extent;
      // The number of heads must be a multiple of kv_heads.
      const std::int64_t kv_heads = c.dims[Axis::kv_heads];
      if (use.axis == Axis::heads && kv_heads && extent % kv_heads) c.dims[Axis::kv_heads] = 1;
      moves.push_back({std::string(use.axis.name), c});
    }
  std::set<std::string> texts;
  std::erase_if(moves, [&](const Move& m) {
    return !sound(m.c, op) || size_of_case(m.c, op) >= size_of_case(from, op) || !texts.insert(repro(m.c, op)).second;
  });
  return moves;
}

// Makes in `c` the changes that lead from `from` to `to`.
void apply(Case& c, const Case& from, const Case& to, const OpShape& op) {
  for (const AxisUse& use : op.axes)
    if (to.dims[use.axis] != from.dims[use.axis]) c.dims[use.axis] = std::min(c.dims[use.axis], to.dims[use.axis]);
  std::erase_if(c.attributes,
                [&](const auto& a) { return from.attributes.contains(a.first) && !to.attributes.contains(a.first); });
  if (to.fill != from.fill) c.fill = to.fill;
  if (to.layout != from.layout) c.layout = to.layout;
}

// Whether the worst of the wrong elements is a NaN where a number belongs, or the other way round.
bool wrong_nan(const Record& r) { return r.wrong && r.worst && std::isnan(r.worst->got) != std::isnan(r.worst->golden); }

class Search {
 public:
  Search(const Record& failed, const OpShape& op, const Kernel& kernel, const TryCases& trials)
      : failed_(failed), op_(op), kernel_(kernel), trials_(trials), kind_(failure_kind(failed)), best_(failed.c) {
    found_.of = failed.repro;
  }

  Shrunk go() {
    bool first = true;
    while (true) {
      const std::map<std::string, Record> hits = one_by_one(first);
      first = false;
      // Note: a case that passes alone may have failed for what earlier calls left, as a smaller one may fail after many trials.
      if (found_.same_seed.run > 0 && found_.same_seed.failed == 0) break;
      if (hits.empty()) break;
      if (const auto jump = hits.find(std::string(kEverything)); jump != hits.end()) take(jump->second);
      else together(hits);
    }
    label();
    return std::move(found_);
  }

 private:
  bool same_failure(const Record& r) const { return failure_kind(r) == kind_; }
  // Note: of wrong values, a NaN and a number have different causes.  A smaller case must have the same.
  bool same_way(const Record& r) const { return same_failure(r) && wrong_nan(r) == wrong_nan(failed_); }
  void take(const Record& r) {
    best_ = r.c;
    found_.smallest = r;
  }

  // Tries all moves from the best case and returns the first hit of each group.  The first round also reruns the case itself,
  // with its seed and with others; later rounds rerun the best case, and the failure is racy if it then passes.
  std::map<std::string, Record> one_by_one(bool first) {
    std::vector<Move> moves;
    const bool rerun = first && failed_.verdict != Verdict::timeout;  // Note: trials of a hang have a shorter time limit
    if (rerun) {
      for (int k = 0; k < 2; ++k) moves.push_back({std::string(kItself), best_});
      for (std::uint64_t k = 1; k <= 2; ++k) {
        moves.push_back({"another seed", best_});
        moves.back().c.seed = random::mix(best_.seed + k * random::kGamma) >> 32;
      }
    } else if (!first) {
      moves.push_back({std::string(kItself), best_});
    }
    for (Move& m : moves_from(best_, op_, kernel_)) moves.push_back(std::move(m));

    std::vector<Case> list;
    for (const Move& m : moves) list.push_back(m.c);
    std::map<std::string, Record> hits;
    const auto done = [&](const std::string& group) { return hits.contains(std::string(kEverything)) || hits.contains(group); };
    trials_(
        list, [&](std::size_t i) { return !done(moves[i].group); },
        [&](std::size_t i, const Record& r) {
          if (r.verdict == Verdict::skipped) return;
          const std::string& group = moves[i].group;
          const bool failed = same_failure(r);
          if (group == kItself && first) {
            ++found_.same_seed.run;
            found_.same_seed.failed += failed;
            other_bits_ = other_bits_ || (kernel_.deterministic && r.digest && failed_.digest && *r.digest != *failed_.digest);
          } else if (group == "another seed") {
            ++found_.other_seeds.run;
            found_.other_seeds.failed += failed;
          } else if (group == kItself) {
            passes_sometimes_ = passes_sometimes_ || !failed;
          } else if (!done(group)) {  // Note: others may have been prepared before their group's hit was known
            ++found_.tried;
            if (same_way(r)) hits.emplace(group, r);
          }
        });
    return hits;
  }

  // Goes on from the smallest case that fails, of those with the changes of all hits, or of all but one.  If none fails, goes on
  // from the smallest hit.
  void together(const std::map<std::string, Record>& hits) {
    std::vector<Case> list;
    const auto add = [&](const std::string& but) {
      Case c = best_;
      for (const auto& [group, r] : hits)
        if (group != but) apply(c, best_, r.c, op_);
      if (sound(c, op_)) list.push_back(c);
    };
    if (hits.size() > 1) add("");
    if (hits.size() > 2)
      for (const auto& [group, r] : hits) add(group);
    std::sort(list.begin(), list.end(),
              [&](const Case& a, const Case& b) { return size_of_case(a, op_) < size_of_case(b, op_); });
    std::optional<Record> hit;
    if (!list.empty())
      trials_(
          list, [&](std::size_t) { return !hit; },
          [&](std::size_t, const Record& r) {
            if (r.verdict == Verdict::skipped || hit) return;
            ++found_.tried;
            if (same_way(r)) hit = r;
          });
    const auto smaller = [&](const auto& a, const auto& b) {
      return size_of_case(a.second.c, op_) < size_of_case(b.second.c, op_);
    };
    take(hit ? *hit : std::min_element(hits.begin(), hits.end(), smaller)->second);
  }

  void label() {
    const auto [run, failed] = found_.same_seed;
    if (run == 0) return;
    const auto never_written = [](const Record& r) { return r.reads_like.starts_with(kNeverWritten); };
    const bool runs_differ = failed_.deterministic == false && kernel_.deterministic && !never_written(failed_) &&
                             !(found_.smallest && never_written(*found_.smallest));
    if (failed < run || other_bits_ || runs_differ || passes_sometimes_) found_.label = "racy";
    else found_.label = found_.other_seeds.run && !found_.other_seeds.failed ? "seed-specific" : "deterministic";
  }

  const Record& failed_;
  const OpShape& op_;
  const Kernel& kernel_;
  const TryCases& trials_;
  std::string kind_;
  Case best_;
  bool other_bits_ = false, passes_sometimes_ = false;
  Shrunk found_;
};

}  // namespace

std::string failure_kind(const Record& r) {
  if (!can_shrink(r)) return {};
  const std::string verdict(name(r.verdict));
  if (r.verdict == Verdict::timeout) return verdict;
  if (r.verdict == Verdict::crashed) return verdict + ": " + r.reason;
  if (r.wrong || r.reason.find("err/bound") != r.reason.npos) return verdict + ": values";
  return verdict + ": " + r.reason.substr(0, r.reason.find_first_of("('=0123456789"));
}

std::string difference(const Case& from, const Case& to, const OpShape& op) {
  std::string text;
  const auto add = [&](std::string_view key, const std::string& value) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  };
  for (const AxisUse& use : op.axes)
    if (from.dims[use.axis] != to.dims[use.axis]) add(use.axis.name, std::to_string(from.dims[use.axis]));
  for (const Attribute& a : op.attributes)
    if (const auto at = from.attributes.find(std::string(a.name));
        at != from.attributes.end() && !to.attributes.contains(at->first))
      add(a.name, text_of(a, at->second));
  if (from.fill != to.fill) add("fill", from.fill);
  if (from.layout != to.layout) add("layout", from.layout);
  return text;
}

Shrunk shrink(const Record& failed, const OpShape& op, const Kernel& kernel, const TryCases& trials) {
  return Search(failed, op, kernel, trials).go();
}

}  // namespace assay
