// SPDX-License-Identifier: Apache-2.0
// What is judged: a case and its kernels, and how a run is to be made.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "validate/cases/case.hpp"
#include "validate/problem/op.hpp"

namespace assay {

class Power;

struct Task {
  const Op* op;
  Case c;
  std::vector<const Kernel*> kernels;
};

struct JudgeOptions {
  std::string backend = "simt";
  double timeout_s = 60;  // for one kernel on one case, all its runs
  double budget_s = 0;    // for everything; what is left then is skipped.  0: none
  int jobs = 0;           // workers at a time; 0: one a core
  bool fail_fast = false;
  bool sectors = false;
  bool policies = false;  // figures for the rules of policy.hpp too
  bool watch = false;     // races and uninitialised reads fail a kernel (simt)
  Relations relations = Relations::none;
  Power* power = nullptr;                       // told of every case that was prepared
  std::function<bool(const Task&)> wanted{};    // asked before a task is prepared; false: it is skipped.  none: all are
  std::function<bool(const Kernel&)> enough{};  // whether a kernel is judged no further, asked before each case; none: it is
  const std::atomic<bool>* stop = nullptr;      // set by a signal handler: finish at once
};

}  // namespace assay
