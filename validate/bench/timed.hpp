// SPDX-License-Identifier: Apache-2.0
// A row's times after all processes have timed it, and the function that prints and records them.
#pragma once

#include "validate/bench/bench.hpp"
#include "validate/records/stats.hpp"

namespace assay {

// One kernel's times, of all processes of a build.
struct Timed {
  const Kernel* kernel = nullptr;
  Clusters cold, steady;
  KernelTimes first;  // all but the times, which are in `cold` and `steady`
  double margin = 0;
  std::size_t judged = 0;  // processes whose output was judged
};

// Writes the records of one build's kernels, and prints them if it is this build (`own`).  Returns whether every output was right
// and every rate below the device's peak.
bool write_timed(std::vector<Timed>& all, const BenchShape& shape, const BenchFlags& flags, const Ceilings& ceilings,
                 const Cost& cost, const std::optional<MachineState>& machine, const BenchOut& out, bool own);

}  // namespace assay
