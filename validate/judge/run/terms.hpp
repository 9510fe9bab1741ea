// SPDX-License-Identifier: Apache-2.0
// What a run of the judge goes by: its options, its clock, its budget.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <thread>

#include "validate/base/stopwatch.hpp"
#include "validate/tasks/task.hpp"

namespace assay {

inline int cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

class Terms {
 public:
  explicit Terms(const JudgeOptions& options) : options_(options) {}

  const JudgeOptions& options() const { return options_; }
  bool on_gpu() const { return options_.backend == "cuda"; }
  bool stopped() const { return options_.stop && *options_.stop; }
  // How many workers run at a time.  A worker of simt has one thread, which waits for the judge between orders.
  int workers() const {
    if (options_.jobs > 0) return options_.jobs;
    return options_.backend == "simt" ? 2 * cores() : cores();
  }

  double seconds() const { return running_.seconds(); }  // since the run began
  double budget_left() const { return options_.budget_s - options_.spent_s - seconds(); }
  bool budget_spent() const { return options_.budget_s > 0 && budget_left() <= 0; }
  std::string over_budget() const { return fmt::format("the budget of {} s was spent", options_.budget_s); }
  // How long a worker that has closed its socket may take to end.
  double patience() const {
    const double patience_s = std::min(10.0, options_.timeout_s);
    return options_.budget_s > 0 ? std::clamp(budget_left(), 0.1, patience_s) : patience_s;
  }

  static constexpr const char* kEnough = "judged enough";
  bool enough(const Kernel& k) const { return options_.enough && options_.enough(k); }
  bool enough(const Task& task) const {
    return options_.enough && std::all_of(task.kernels.begin(), task.kernels.end(), [&](const Kernel* k) { return enough(*k); });
  }

 private:
  const JudgeOptions options_;  // a copy, since jobs may outlive the caller
  const Stopwatch running_;
};

}  // namespace assay
