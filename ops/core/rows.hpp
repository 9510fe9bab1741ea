// SPDX-License-Identifier: Apache-2.0
// The rows that a golden must compute: all, or a sample where all would cost too much.  A row is one index of all axes but the
// last of the op's first output, numbered row-major.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace assay {

struct Rows {
  std::int64_t total = 0;
  std::vector<std::int64_t> sample{};  // sorted, unique; empty: all rows

  bool all() const { return sample.empty(); }
  std::int64_t count() const { return all() ? total : static_cast<std::int64_t>(sample.size()); }
  std::int64_t operator[](std::int64_t k) const { return all() ? k : sample[static_cast<std::size_t>(k)]; }
  bool has(std::int64_t row) const { return all() || std::binary_search(sample.begin(), sample.end(), row); }
};

}  // namespace assay
