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

void Declines::Count::add(const Count& more) {
  cases += more.cases;
  declined += more.declined;
  for (const auto& [reason, count] : more.reasons) reasons[reason] += count;
}

std::string Declines::Count::text(std::size_t most) const {
  std::vector<std::pair<std::string, std::int64_t>> frequent(reasons.begin(), reasons.end());
  std::stable_sort(frequent.begin(), frequent.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, frequent.size()); ++i)
    text += fmt::format("{}{} '{}'", i ? ", " : "", frequent[i].second, plain(frequent[i].first));
  if (frequent.size() > most) text += fmt::format(" and {} more reasons", frequent.size() - most);
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
  if (declined && r.reason == fmt::format("declares no {}", name(r.c.dtype)))  // nobody expects it
    return undeclared_.add(r, declined);
  OfKernel& kernel = kernels_[{r.c.op, r.kernel}];
  kernel.all.add(r, declined);
  kernel.classes[fmt::format("dtype={}", name(r.c.dtype))].add(r, declined);
  kernel.classes[fmt::format("layout={}", r.c.layout)].add(r, declined);
}

bool Declines::any() const {
  return std::any_of(kernels_.begin(), kernels_.end(), [](const auto& kernel) { return kernel.second.few(); });
}

std::vector<std::string> Declines::lines() const {
  constexpr std::size_t kEach = 4, kReasons = 5;  // kernels with a line each; reasons of the others
  Count untold = undeclared_, few;
  std::vector<std::string> lines, names;
  for (const auto& [key, kernel] : kernels_) {
    if (!kernel.few()) {
      untold.add(kernel.all);
      continue;
    }
    few.add(kernel.all);
    const Count& all = kernel.all;
    const std::int64_t taken = all.cases - all.declined;
    const std::string none = taken ? kernel.none() : "";
    names.push_back(fmt::format("{}/{}", key.first, key.second));
    lines.push_back(fmt::format("{} takes {} of {} cases ({:.0f} %){}{}; not: {}", names.back(), taken, all.cases,
                                100.0 * static_cast<double>(taken) / static_cast<double>(all.cases),
                                none.empty() ? "" : ", none with ", none, all.text()));
  }
  for (std::string& line : lines) line.insert(0, "NOT TAKEN  ");
  bool besides = !lines.empty();
  if (lines.size() > kEach) {
    besides = false;
    lines = {fmt::format("NOT TAKEN  {} kernels take less than half of the cases, or none of a layout, as they declare: {}",
                         names.size(), fmt::join(names, ", "))};
    untold.add(few);
  }
  if (untold.declined)
    lines.push_back(fmt::format("{} unsupported as declared{}: {}", untold.declined, besides ? ", besides these" : "",
                                untold.text(kReasons)));
  return lines;
}

}  // namespace assay
