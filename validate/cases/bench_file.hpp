// SPDX-License-Identifier: Apache-2.0
// The files of datasets/bench, read: the shapes of an op that are timed, and suites of rows that a document reported.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assay {

// "axes" for all dtypes and kernels, or {"shape": axes, "dtypes": [...], "kernels": [...]}.
struct BenchEntry {
  std::string shape;  // "rows=16384 cols=8192"
  std::vector<std::string> dtypes{}, kernels{};
};

struct BenchFile {
  std::vector<BenchEntry> entries;
  std::vector<std::string> ladder;  // kernels in the order of their ideas, the plainest first
};

struct SuiteRow {
  std::string label, op;
  BenchEntry entry;
  nlohmann::ordered_json reported;  // numbers or short texts, as the document has them
};
struct SuiteTable {
  std::string title;
  std::vector<SuiteRow> rows;
};

// The text of a file; `file` is what messages call it.  Both throw BadInput.
BenchFile parse_bench(const std::string& text, const std::string& file);
std::vector<SuiteTable> parse_bench_suite(const std::string& text, const std::string& file);

}  // namespace assay
