// SPDX-License-Identifier: Apache-2.0
// Has the pool prepare the cases of a run ahead of their kernels, as far as memory, places and files allow.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "validate/judge/prepare.hpp"
#include "validate/judge/run/jobs.hpp"
#include "validate/judge/run/records_in_order.hpp"
#include "validate/judge/run/rooms.hpp"
#include "validate/judge/run/terms.hpp"

namespace assay {

class CasesAhead {
 public:
  // `fault`: of the machine, for which every case is skipped; empty: none.
  CasesAhead(std::span<const Task>, std::string fault, std::shared_ptr<const Terms>, Rooms&, Jobs&, RecordsInOrder&);

  // Starts to prepare tasks while there is room.  Skips those that nobody wants, that never fit, or that come too late.
  void prepare();
  // Skips tasks whose inputs and golden take longer than a kernel may, or than the budget is.  Their jobs go on unheeded, in
  // threads that the pool no longer counts on.
  void give_up();
  // The tasks that have become prepared, in any order unless the options ask for the tasks'.
  std::vector<std::shared_ptr<Prepared>> take_prepared();
  // The next prepared task in the tasks' order, each once; null: it is not prepared yet.
  std::shared_ptr<Prepared> next_in_order();
  // The tasks before this index have been taken, or will not be run.
  std::size_t taken() const;

 private:
  // A task that is being prepared, or is (`made`) and is not yet the next in order.
  struct Making {
    const Task* task;
    std::size_t first_record;
    struct State {
      std::atomic<double> began = 0;  // seconds of the run; 0: not yet
      std::atomic<bool> given_up = false;
    };
    std::shared_ptr<State> state;  // the job has it too
    std::future<std::shared_ptr<Prepared>> prepared;
    std::shared_ptr<Prepared> made{};
    bool given_up() const { return state->given_up; }
    bool pending() const { return !made && !given_up(); }
  };

  bool room_for(const TaskMemory&) const;
  void make(const Task&, std::size_t first_record, const TaskMemory&);

  std::span<const Task> tasks_;
  std::string fault_;
  std::shared_ptr<const Terms> terms_;
  Rooms& rooms_;
  Jobs& jobs_;
  RecordsInOrder& records_;
  std::deque<Making> making_;
  std::optional<TaskMemory> needs_;  // of the next task, once it is known
  std::size_t next_task_ = 0, next_record_ = 0;
};

}  // namespace assay
