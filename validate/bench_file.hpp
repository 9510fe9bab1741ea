// SPDX-License-Identifier: Apache-2.0
// The files of datasets/bench, read: the shapes of an op that are timed.
#pragma once

#include <string>
#include <vector>

namespace assay {

// "axes" for all dtypes and kernels, or {"shape": axes, "dtypes": [...], "kernels": [...]}.
struct BenchEntry {
  std::string shape;  // "rows=16384 cols=8192"
  std::vector<std::string> dtypes{}, kernels{};
};

// The text of a file; `file` is what messages call it.  Throws BadInput.
std::vector<BenchEntry> parse_bench(const std::string& text, const std::string& file);

}  // namespace assay
