// SPDX-License-Identifier: Apache-2.0
// Wall-clock time for budgets, deadlines and what a run reports of itself.  Kernels are timed by a Clock (worker/clock.hpp).
#pragma once

#include <chrono>

namespace assay {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Since the program began: what the budget of a command counts.
inline const Stopwatch program_time;

}  // namespace assay
