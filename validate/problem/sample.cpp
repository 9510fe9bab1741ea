// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/sample.hpp"

#include <algorithm>
#include <set>

#include "validate/values/random.hpp"

namespace assay {

namespace {

constexpr std::int64_t kLeastRows = 64, kMostRows = 512;

// A random index of an axis: an end, the first or last of a tile of 64 ... 512, or anywhere.
std::int64_t pick(std::uint64_t key, std::uint64_t counter, std::int64_t extent) {
  const std::uint64_t bits = random::bits(key, counter);
  const std::int64_t anywhere = static_cast<std::int64_t>(bits >> 16) % extent;
  const std::int64_t tile = std::int64_t{64} << (bits >> 8 & 3);  // 64 ... 512
  switch (bits & 7) {
    case 0: return 0;
    case 1: return extent - 1;
    case 2:
    case 3: return std::min(anywhere / tile * tile, extent - 1);         // the first row of a tile
    case 4: return std::min(anywhere / tile * tile + tile, extent) - 1;  // the last
    default: return anywhere;
  }
}

}  // namespace

std::vector<std::int64_t> sampled_rows(const Op& op, const Case& c, const Problem& problem, double most_flops) {
  const auto first =
      std::find_if(op.tensors.begin(), op.tensors.end(), [](const TensorSpec& t) { return t.role == Role::output; });
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < first->axes.size(); ++i) rows *= first->axes[i].of(c.dims);
  const double flops = problem.cost().flops;
  if (!(flops > most_flops) || rows <= kLeastRows) return {};
  const auto wanted = std::clamp(static_cast<std::int64_t>(most_flops / flops * static_cast<double>(rows)), kLeastRows,
                                 std::min(kMostRows, rows));
  std::set<std::int64_t> chosen{0, rows - 1};
  const std::uint64_t key = random::key(c.seed, 0, random::Purpose::row);
  for (std::uint64_t n = 0; static_cast<std::int64_t>(chosen.size()) < wanted && n < 64 * static_cast<std::uint64_t>(wanted);
       ++n) {
    std::int64_t row = 0;
    for (std::size_t i = 0; i + 1 < first->axes.size(); ++i) {
      const std::int64_t extent = first->axes[i].of(c.dims);
      row = row * extent + pick(key, n * first->axes.size() + i, extent);
    }
    chosen.insert(row);
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace assay
