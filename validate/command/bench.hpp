// SPDX-License-Identifier: Apache-2.0
// The two halves of bench: times on a GPU, and bytes as simt counts them.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "validate/backend.hpp"
#include "validate/command/commands.hpp"
#include "validate/op.hpp"
#include "validate/record.hpp"

namespace assay {

using BenchJson = nlohmann::ordered_json;

// What this machine can do at most, measured in the same run.
struct Ceilings {
  double copy = 0;                 // bytes per second, read and written
  std::map<DType, double> matrix;  // operations per second; 0 or missing: not measured
  double matrix_rate(DType t) const {
    const auto at = matrix.find(t);
    return at == matrix.end() ? 0 : at->second;
  }
};

struct BenchOut {
  std::unique_ptr<JsonLines> json;
  void write(const BenchJson& j) const {
    if (json) json->write(j.dump());
  }
};

// One row of a bench file: a case, and the kernels that it is kept for (empty: all).
struct BenchShape {
  const Op* op = nullptr;
  Case c;
  std::vector<std::string> kernels;
};

// The sound kernels of a row that the flags ask for, and those that ratios refer to.
std::vector<const Kernel*> bench_candidates(const BenchShape& shape, const BenchFlags& flags);

// Times the kernels of one row, interleaved, judges each once more, prints and writes; whether every output was right.
bool bench_times(Backend& backend, const BenchShape& shape, const BenchFlags& flags, const Ceilings& ceilings,
                 const BenchOut& out);

// The row's case with its axes cut down to what a simulator can do.
Case bench_reduced(const Op& op, const Case& c);
// What each kernel moves on simt at that size, beside the contract's formula.
bool bench_traffic(const BenchShape& reduced, const BenchFlags& flags, const BenchOut& out);

}  // namespace assay
