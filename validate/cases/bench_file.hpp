// SPDX-License-Identifier: Apache-2.0
// Reads datasets/bench: the shapes of an op to time, and suites of rows with published times.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "validate/base/error.hpp"

namespace assay {

// An entry is either a text like "rows=16384 cols=8192", for all dtypes and kernels, or an object {"shape": such a text,
// "dtypes": [...], "kernels": [...]}.
struct BenchEntry {
  std::string shape;  // "rows=16384 cols=8192"
  std::vector<std::string> dtypes{}, kernels{};
};

struct BenchFile {
  std::string op;  // whose shapes these are; empty: the file does not say
  std::vector<BenchEntry> entries;
  std::vector<std::string> ladder;  // kernels from the simplest to the most optimised
};

struct SuiteRow {
  std::string label, op;
  BenchEntry entry;
  nlohmann::ordered_json reported;  // published figures: numbers or short texts
};
struct SuiteTable {
  std::string title;
  std::vector<SuiteRow> rows;
};

// Parses the text of a file; `file` is its name in messages.  Both throw BadInput.
BenchFile parse_bench(const std::string& text, const std::string& file);
std::vector<SuiteTable> parse_bench_suite(const std::string& text, const std::string& file);
// Throws BadInput if the file is of another op, or a kernel that it names is none of `known`, those of the op.
void check(const BenchFile&, std::string_view op, const Names& known, const std::string& file);

}  // namespace assay
