// SPDX-License-Identifier: Apache-2.0
#include "validate/console/declines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "validate/base/input.hpp"
#include "validate/records/record.hpp"

namespace assay {

namespace {

constexpr std::int64_t kLeastOfClass = 3;  // cases of a dtype or a layout; fewer say little

}  // namespace

void Declines::Count::add(const Record& r, bool is_declined) {
  ++cases;
  if (is_declined) {
    ++declined;
    ++reasons[r.reason];
  }
}

std::string Declines::Count::text() const {
  constexpr std::size_t kReasons = 3;
  std::vector<std::pair<std::string, std::int64_t>> frequent(reasons.begin(), reasons.end());
  std::stable_sort(frequent.begin(), frequent.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kReasons, frequent.size()); ++i)
    text += fmt::format("{}{} '{}'", i ? ", " : "", frequent[i].second, plain(frequent[i].first));
  if (frequent.size() > kReasons) text += fmt::format(" and {} more reasons", frequent.size() - kReasons);
  return text;
}

std::string Declines::OfKernel::none() const {
  std::string text;
  for (const auto& [of, count] : classes)
    if (count.cases >= kLeastOfClass && count.declined == count.cases)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", of, count.cases);
  return text;
}

bool Declines::OfKernel::few() const { return 2 * all.declined > all.cases || !none().empty(); }

void Declines::add(const Record& r) {
  if (r.verdict == Verdict::skipped || r.incomplete) return;  // which is told as incomplete
  const bool declined = r.verdict == Verdict::unsupported;
  if (declined && r.reason == fmt::format("declares no {}", name(r.c.dtype))) return;  // nobody expects it
  OfKernel& kernel = kernels_[{r.c.op, r.kernel}];
  kernel.all.add(r, declined);
  kernel.classes[fmt::format("dtype={}", name(r.c.dtype))].add(r, declined);
  kernel.classes[fmt::format("layout={}", r.c.layout)].add(r, declined);
}

bool Declines::any() const {
  return std::any_of(kernels_.begin(), kernels_.end(), [](const auto& kernel) { return kernel.second.few(); });
}

std::vector<std::string> Declines::lines() const {
  constexpr std::size_t kEach = 4;  // kernels with a line each
  std::vector<std::string> lines, names;
  for (const auto& [key, kernel] : kernels_) {
    if (!kernel.few()) continue;
    const Count& all = kernel.all;
    const std::int64_t taken = all.cases - all.declined;
    const std::string none = taken ? kernel.none() : "";
    names.push_back(fmt::format("{}/{}", key.first, key.second));
    lines.push_back(fmt::format("{} takes {} of {} cases ({:.0f} %){}{}; not: {}", names.back(), taken, all.cases,
                                100.0 * static_cast<double>(taken) / static_cast<double>(all.cases),
                                none.empty() ? "" : ", none with ", none, all.text()));
  }
  if (lines.size() <= kEach) return lines;
  return {
      fmt::format("{} kernels take less than half of the cases, or none of a layout, as they declare (a run of one of them has "
                  "the reasons): {}",
                  names.size(), fmt::join(names, ", "))};
}

}  // namespace assay
