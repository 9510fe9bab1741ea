// SPDX-License-Identifier: Apache-2.0
#include "validate/console/declines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "validate/base/input.hpp"
#include "validate/records/record.hpp"

namespace assay {

void Declines::Count::add(const Record& r, bool is_declined) {
  ++cases;
  if (is_declined) ++declined, ++reasons[r.reason];
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

void Declines::add(const Record& r) {
  if (r.verdict == Verdict::skipped || r.incomplete) return;  // which is told as incomplete
  const bool declined = r.verdict == Verdict::unsupported;
  OfKernel& kernel = kernels_[{r.c.op, r.kernel}];
  kernel.all.add(r, declined);
  kernel.classes[fmt::format("dtype={}", name(r.c.dtype))].add(r, declined);
  kernel.classes[fmt::format("layout={}", r.c.layout)].add(r, declined);
}

std::vector<std::string> Declines::lines() const {
  std::vector<std::string> lines;
  for (const auto& [key, kernel] : kernels_) {
    const std::string name = fmt::format("{}/{}", key.first, key.second);
    const Count& all = kernel.all;
    const std::int64_t taken = all.cases - all.declined;
    if (2 * taken < all.cases)
      lines.push_back(fmt::format("{} takes {} of {} cases ({:.0f} %); not: {}", name, taken, all.cases,
                                  100.0 * static_cast<double>(taken) / static_cast<double>(all.cases), all.text()));
    for (const auto& [of, count] : kernel.classes)
      if (taken > 0 && count.declined == count.cases)
        lines.push_back(fmt::format("{} takes none of {} case{} with {}; not: {}", name, count.cases, count.cases == 1 ? "" : "s",
                                    of, count.text()));
  }
  return lines;
}

}  // namespace assay
