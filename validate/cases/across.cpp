// SPDX-License-Identifier: Apache-2.0
#include "validate/cases/across.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay {

namespace {

// What is told first of several properties that say as much.
enum Rank { kLayout, kFill, kDtype, kAttribute, kOther, kValue, kRelation, kRange, kMultiples, kPower = kMultiples + 10, kPair };

constexpr std::pair<Axis, Axis> kComparable[] = {{Axis::heads, Axis::kv_heads}, {Axis::seq_q, Axis::seq_k}};

// The axes of a pair are told in this order: that of kAxes, then an op's own by their names.
bool comes_first(const Axis& a, const Axis& b) {
  const auto at = [](const Axis& axis) { return std::find(kAxes.begin(), kAxes.end(), axis) - kAxes.begin(); };
  return std::pair(at(a), a) < std::pair(at(b), b);
}

std::string_view relation(std::int64_t a, std::int64_t b) { return a == b ? "=" : a < b ? "<" : ">"; }

// "dtype=f32" as "dtype other than f32".
std::string other_than(const std::string& property) {
  const std::size_t equals = property.find('=');
  return property.substr(0, equals) + " other than " + property.substr(equals + 1);
}

}  // namespace

void Across::Counts::add(const Case& c, const OpShape& op) {
  ++cases;
  ++having[{kLayout, "layout=" + c.layout}];
  ++having[{kFill, "fill=" + c.fill}];
  ++having[{kDtype, fmt::format("dtype={}", name(c.dtype))}];
  for (const Attribute& a : op.attributes) {
    const auto at = c.attributes.find(std::string(a.name));
    ++having[{kAttribute, fmt::format("{}={}", a.name, text_of(a, at == c.attributes.end() ? a.standard : at->second))}];
  }
  for (const AxisUse& use : op.axes) {
    const std::string axis(use.axis.name);
    const std::int64_t extent = c.dims[use.axis];
    ++having[{kValue, fmt::format("{}={}", axis, extent)}];
    for (int power = 1; power <= 7; ++power)  // the smallest of the powers that separate comes first
      ++having[{kMultiples + power,
                fmt::format("{} {} multiple of {}", axis, extent % (1 << power) ? "not a" : "a", 1 << power)}];
    const bool is_power = extent > 0 && (extent & (extent - 1)) == 0;
    ++having[{kPower, fmt::format("{} {} power of two", axis, is_power ? "a" : "not a")}];
    const auto [at, first] = range.try_emplace(axis, extent, extent);
    at->second = {std::min(at->second.first, extent), std::max(at->second.second, extent)};
    for (const AxisUse& second : op.axes) {
      if (!comes_first(use.axis, second.axis)) continue;
      const bool comparable =
          std::find(std::begin(kComparable), std::end(kComparable), std::pair(use.axis, second.axis)) != std::end(kComparable);
      const std::int64_t other = c.dims[second.axis];
      const int rank = comparable ? kRelation : kPair;
      ++having[{rank, fmt::format("{} {} {}", axis, relation(extent, other), second.axis.name)}];
      if (extent != other) ++having[{rank, fmt::format("{} unlike {}", axis, second.axis.name)}];
    }
  }
}

std::int64_t Across::failed(const std::string& op, const std::string& kernel, const std::string& reason) const {
  const auto at = of_.find({op, kernel});
  if (at == of_.end()) return 0;
  const auto failed = at->second.failed.find(reason);
  return failed == at->second.failed.end() ? 0 : failed->second.cases;
}

std::string Across::reading(const std::string& op, const std::string& kernel, const std::string& reason) const {
  const auto at = of_.find({op, kernel});
  if (at == of_.end() || !at->second.readings.contains(reason)) return "";
  const auto& readings = at->second.readings.at(reason);
  const auto [reading, cases] =
      *std::max_element(readings.begin(), readings.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::int64_t all = failed(op, kernel, reason);
  return cases < 2 || 2 * cases < all ? "" : fmt::format("{} ({} of {} cases)", reading, cases, all);
}

std::vector<Across::Property> Across::properties(const Counts& failed, const Counts& passed) {
  std::map<std::pair<int, std::string>, Property> all;
  const auto count = [](const Counts& of, const std::pair<int, std::string>& property) {
    const auto at = of.having.find(property);
    return at == of.having.end() ? 0 : at->second;
  };
  for (const Counts* of : {&failed, &passed})
    for (const auto& [property, n] : of->having) {
      const Property p{property.first, property.second, count(failed, property), count(passed, property)};
      all[property] = p;
      // Note: of fills and layouts there are many, and only the plain one says something of all others.
      const bool telling = property.first > kFill || property.second == "fill=normal" || property.second == "layout=contiguous";
      if (property.first <= kAttribute && telling)
        all[{kOther, property.second}] = {kOther, other_than(property.second), failed.cases - p.failed, passed.cases - p.passed};
    }
  for (const auto& [axis, ends] : failed.range) {
    const auto& [least, greatest] = passed.range.at(axis);
    if (ends.first > greatest) all[{kRange, axis}] = {kRange, fmt::format("{} >= {}", axis, ends.first), failed.cases, 0};
    else if (ends.second < least) all[{kRange, axis}] = {kRange, fmt::format("{} <= {}", axis, ends.second), failed.cases, 0};
  }
  std::vector<Property> list;
  for (const auto& [key, p] : all) list.push_back(p);
  return list;
}

std::string Across::sentence(const std::string& op, const std::string& kernel, const std::string& reason) const {
  constexpr double kByChance = 1e-3, kMostOfPassed = 0.75, kLeastOfFailed = 0.25;
  if (failed(op, kernel, reason) < kLeast) return "";
  const Kernel& k = of_.at({op, kernel});
  const Counts &failed = k.failed.at(reason), &passed = k.passed;
  if (passed.cases < kLeast) return "";
  const std::string_view these = k.failed.size() == 1 ? "failing cases" : "cases that fail this way";
  const std::vector<Property> all = properties(failed, passed);
  for (const Property& p : all)
    if (p.failed == failed.cases && p.passed == 0)
      return fmt::format("all {} {} have {}; none of the {} passing ones do", failed.cases, these, p.text, passed.cases);
  // What the failing cases need, and what alone makes a case fail: half of an answer each.
  const auto whole = [](std::int64_t n) { return static_cast<double>(n); };
  const Property *needed = nullptr, *enough = nullptr;
  for (const Property& p : all) {
    const double share = whole(p.passed) / whole(passed.cases), of_all = whole(failed.cases) / whole(failed.cases + passed.cases);
    if (p.failed == failed.cases && share <= kMostOfPassed && std::pow(share, whole(failed.cases)) < kByChance &&
        (needed == nullptr || p.passed < needed->passed))
      needed = &p;
    if (p.passed == 0 && whole(p.failed) >= kLeastOfFailed * whole(failed.cases) &&
        std::pow(of_all, whole(p.failed)) < kByChance && k.failed.size() == 1 && (enough == nullptr || p.failed > enough->failed))
      enough = &p;
  }
  std::string text;
  if (needed && needed->text == "fill other than normal") {
    // All fills of which every case fails say more than that it is none.
    std::vector<std::string> fills;
    std::int64_t cases = 0;
    for (const Property& p : all)
      if (p.rank == kFill && p.failed && p.passed == 0) {
        fills.push_back(p.text.substr(5));
        cases += p.failed;
      }
    if (constexpr std::size_t kMost = 8; !fills.empty() && fills.size() <= kMost && 2 * cases >= failed.cases)
      return fmt::format("all {} {} have {}, and every case with fill={} fails", failed.cases, these, needed->text,
                         fmt::join(fills, ", "));
  }
  if (needed)
    text = fmt::format("all {} {} have {}, as do {} of the {} passing ones", failed.cases, these, needed->text, needed->passed,
                       passed.cases);
  if (enough)
    text += fmt::format("{}all {} cases with {} fail{}", needed ? "; " : "", enough->failed, enough->text,
                        needed ? "" : fmt::format(", and {} others", failed.cases - enough->failed));
  return text;
}

}  // namespace assay
