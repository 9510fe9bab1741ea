// SPDX-License-Identifier: Apache-2.0
// A task (a case and the kernels to judge on it) and the options of a run.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "validate/cases/case.hpp"
#include "validate/problem/op.hpp"

namespace assay {

class Declared;
class Power;
class Suggested;
struct Given;

struct Task {
  const Op* op;
  Case c;
  std::vector<const Kernel*> kernels;
  std::shared_ptr<const Given> given{};  // the inputs, if the case's fill does not make them
};

struct JudgeOptions {
  std::string backend = "simt";
  double timeout_s = 60;  // for one order: all runs of a kernel on a case, or on one related problem
  double budget_s = 0;    // for the whole run, which skips what is left; 0: no limit
  double spent_s = 0;     // of the budget, before the judge began
  int jobs = 0;           // workers at a time; 0: one per core
  bool fail_fast = false;
  bool in_order = false;  // a kernel gets its cases in the order of the tasks, not as they are ready
  bool sectors = false;
  bool policies = false;                   // also compute the figures of policy.hpp
  bool watch = false;                      // races and uninitialised reads fail a kernel (simt)
  std::vector<std::string> not_checked{};  // what the workers of built-in kernels do not check (left_unchecked())
  Relations relations = Relations::none;
  Power* power = nullptr;                       // looks at every prepared case; null: power is not judged
  std::shared_ptr<Declared> declared{};         // looks at every passed record; null: declarations are not examined
  std::shared_ptr<Suggested> suggested{};       // looks at every record with outputs; null: nothing is suggested
  std::function<bool(const Task&)> wanted{};    // called before a task is prepared; false skips it.  Empty: all are wanted
  std::function<bool(const Kernel&)> enough{};  // called before each case; true skips the kernel from there on.  Empty: never
  const std::atomic<bool>* stop = nullptr;      // set by a signal handler: stop at once
};

}  // namespace assay
