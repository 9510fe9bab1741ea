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
  Clusters copy;      // the copy that took turns with it (--copy)
  KernelTimes first;  // all but the times, which are in the clusters
  double margin = 0;
  std::size_t judged = 0;  // processes whose output was judged
};

// Bytes that the copy to time beside a row's kernels reads, and as many that it writes: together those of the op's formula.  0: a
// row of less than 1 MB, or one whose limit is not memory, has none.
std::size_t bench_copy_bytes(const Cost& cost, const Ceilings& ceilings, DType t);

// Writes the records of one build's kernels, and prints them if it is this build (`own`).  Returns whether every output was right
// and every rate below the device's peak.
bool write_timed(std::vector<Timed>& all, const BenchShape& shape, const BenchFlags& flags, const Ceilings& ceilings,
                 const Cost& cost, const std::optional<MachineState>& machine, const BenchOut& out, bool own);

}  // namespace assay
