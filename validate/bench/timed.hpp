// SPDX-License-Identifier: Apache-2.0
// What bench has of a row once its kernels are timed, and how it is told.
#pragma once

#include "validate/bench/bench.hpp"
#include "validate/records/stats.hpp"

namespace assay {

// One kernel's times of all processes of a build.
struct Timed {
  const Kernel* kernel = nullptr;
  Clusters cold, steady;
  KernelTimes first;  // without its times
  double margin = 0;
  std::size_t judged = 0;  // processes
};

// Writes the kernels of one build, and prints them where it is this one (`own`); whether every output was right and every rate
// possible.
bool write_timed(std::vector<Timed>& all, const BenchShape& shape, const BenchFlags& flags, const Ceilings& ceilings,
                 const Cost& cost, const std::optional<MachineState>& machine, const BenchOut& out, bool own);

}  // namespace assay
