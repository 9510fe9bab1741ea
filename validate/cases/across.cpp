// SPDX-License-Identifier: Apache-2.0
#include "validate/cases/across.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {

namespace {

enum Rank { kLayout, kFill, kDtype, kAttribute, kValue, kRange, kMultiples };

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
    const std::string axis(name(use.axis));
    const std::int64_t extent = c.dims[use.axis];
    ++having[{kValue, fmt::format("{}={}", axis, extent)}];
    for (int power = 1; power <= 7; ++power)  // the smallest of the powers that separate comes first
      ++having[{kMultiples + power,
                fmt::format("{} {} multiple of {}", axis, extent % (1 << power) ? "not a" : "a", 1 << power)}];
    const auto [at, first] = range.try_emplace(axis, extent, extent);
    at->second = {std::min(at->second.first, extent), std::max(at->second.second, extent)};
  }
}

std::int64_t Across::failed(const std::string& op, const std::string& kernel, const std::string& reason) const {
  const auto at = of_.find({op, kernel});
  if (at == of_.end()) return 0;
  const auto failed = at->second.failed.find(reason);
  return failed == at->second.failed.end() ? 0 : failed->second.cases;
}

std::string Across::sentence(const std::string& op, const std::string& kernel, const std::string& reason) const {
  if (failed(op, kernel, reason) < kLeast) return "";
  const Kernel& k = of_.at({op, kernel});
  const Counts &failed = k.failed.at(reason), &passed = k.passed;
  if (passed.cases < kLeast) return "";
  std::pair<int, std::string> found{kMultiples + 100, ""};
  for (const auto& [property, count] : failed.having)
    if (count == failed.cases && !passed.having.contains(property)) {
      found = property;
      break;
    }
  for (const auto& [axis, ends] : failed.range) {
    const auto& [least, greatest] = passed.range.at(axis);
    if (found.first <= kRange) break;
    if (ends.first > greatest) found = {kRange, fmt::format("{} >= {}", axis, ends.first)};
    else if (ends.second < least) found = {kRange, fmt::format("{} <= {}", axis, ends.second)};
  }
  if (found.second.empty()) return "";
  return fmt::format("all {} {} have {}; none of the {} passing ones do", failed.cases,
                     k.failed.size() == 1 ? "failing cases" : "cases that fail this way", found.second, passed.cases);
}

}  // namespace assay
