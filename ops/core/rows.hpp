// SPDX-License-Identifier: Apache-2.0
// Which rows a golden must answer.  A row is everything but the last axis of the op's first output, numbered row-major:
// all of them, or a sample where all would cost too much.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace assay {

struct Rows {
  std::int64_t total = 0;
  std::vector<std::int64_t> sample{};  // sorted, no row twice; empty: all rows

  bool all() const { return sample.empty(); }
  std::int64_t count() const { return all() ? total : static_cast<std::int64_t>(sample.size()); }
  std::int64_t operator[](std::int64_t k) const { return all() ? k : sample[static_cast<std::size_t>(k)]; }
  bool has(std::int64_t row) const { return all() || std::binary_search(sample.begin(), sample.end(), row); }
};

}  // namespace assay
