// SPDX-License-Identifier: Apache-2.0
// Makes tasks from the names on the command line: ops, kernels, dtypes, suite.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "validate/cases/suite.hpp"
#include "validate/tasks/task.hpp"

namespace assay {

struct Selection {
  std::vector<std::string> ops, kernels, dtypes;
  std::string suite = "smoke";
  std::string datasets;  // folder; empty: ASSAY_DATASETS, or a folder near the program or here
  std::uint64_t seed = 2026;
  std::int64_t count = 200;
  std::string shard;       // "i/n"
  std::string pattern;     // a glob over "op/kernel dtype" or "op/kernel"; without wildcards, a part of it
  bool no_vendor = false;  // leave out kernels that call a vendor's library
};

std::filesystem::path datasets_folder(const Selection& selection);  // throws BadInput if there is none
Datasets datasets_of(const Selection& selection);
std::vector<OpShape> op_shapes();
const Op& op_named(std::string_view name);  // throws BadInput with the nearest right name
// The tasks of a selection, with sound kernels only, or with broken ones only.  `reduce`: see SuiteOptions.  Throws BadInput.
std::vector<Task> tasks_of(const Selection& selection, bool reduce, bool broken = false, bool without_kernels = false);
// Whether a word of --kernel means that kernel: "naive", or "softmax/naive".
bool means(std::string_view word, const Kernel& k);
// Whether --kernel, --no-vendor and -k select a kernel for that dtype.
bool asked(const Selection& s, const Kernel& k, DType t);
// Throws BadInput if a word of --kernel, or -k, means no kernel of these ops.
void require_kernels(const Selection& s, const std::vector<const Op*>& ops, bool broken = false);
std::string summary_of(const Case& c);  // "rows=129 cols=4096 fill=normal"

}  // namespace assay
