// SPDX-License-Identifier: Apache-2.0
// The loop of a run.  The calling thread talks to the workers and hands records on; a pool of threads makes goldens and judges
// outputs.
//
// Each part of a run has one job:
//   Terms            the options, the clock, the budget
//   Rooms            the memory, files and places that are taken
//   Jobs             the pool
//   RecordsInOrder   hands records on in the tasks' order, with tally and power
//   CasesAhead       has the pool prepare cases
//   Queues           give prepared cases to workers, and take in replies
//   InJudging        has the pool judge what workers returned
// Who owns what:
//   - judge() owns the parts.  Each refers to those that it calls, which are made before it and end after it.
//   - A job owns what it uses, and no part but the Terms, which hold their own copy of the options: its task, the prepared case,
//     the outputs, shares of the rooms.  So a job that nobody waits for any more goes on alone, and frees all when it ends.  The
//     pool waits for jobs only if the run ends by an exception.
//   - A KernelQueue owns its worker.  What the worker maps, SharedMemory, belongs to the task, and outlives the worker.
//   - `tasks`, `on_record`, and the Power of the options belong to the caller.  Only this thread uses them.
#include "validate/judge/judge.hpp"

#include <memory>
#include <utility>

#include "validate/base/machine.hpp"
#include "validate/base/memory.hpp"
#include "validate/judge/run/cases_ahead.hpp"
#include "validate/judge/run/in_judging.hpp"
#include "validate/judge/run/jobs.hpp"
#include "validate/judge/run/queues.hpp"
#include "validate/judge/run/records_in_order.hpp"
#include "validate/judge/run/rooms.hpp"
#include "validate/judge/run/terms.hpp"

namespace assay {

Tally judge(std::span<const Task> tasks, const JudgeOptions& options, const std::function<void(const Record&)>& on_record) {
  constexpr int kLongestWait = 200;   // milliseconds
  constexpr double kMostJudging = 2;  // seconds after the budget, for outputs that are being judged
  const auto terms = std::make_shared<const Terms>(options);
  const std::size_t free_bytes = available_memory();
  Rooms rooms(free_bytes, spare_descriptors(), terms->workers());
  Jobs jobs;
  std::string fault = machine_fault(cores(), kLeastFiles + kOtherFiles);  // beside the pool
  if (!fault.empty()) fault.insert(0, kMachine);
  RecordsInOrder records(tasks, *terms, on_record);
  InJudging in_judging(terms, jobs, records);
  CasesAhead cases(tasks, std::move(fault), terms, rooms, jobs, records);
  Queues queues(tasks, *terms, rooms, jobs, records, in_judging);

  bool interrupted = false;
  while (!records.finished() && !records.failed_fast()) {
    interrupted = terms->stopped();
    if (interrupted) break;
    for (const std::shared_ptr<Prepared>& p : cases.take_prepared()) queues.add(p);
    while (const std::shared_ptr<Prepared> p = cases.next_in_order()) records.look(*p);
    queues.send_related();
    in_judging.emit();
    cases.give_up();
    cases.prepare();
    if (!terms->budget_spent()) {
      queues.dispatch(cases.taken());
    } else {
      queues.cut();
      if (terms->budget_left() <= -kMostJudging) in_judging.cut();
    }
    if (!records.finished()) queues.wait(kLongestWait);
  }
  queues.end_workers();
  jobs.leave();
  if (records.finished()) records.settle();

  Tally tally = records.tally();
  tally.interrupted = interrupted;
  tally.seconds = terms->seconds();
  tally.work.workers = queues.workers_s();
  tally.work.goldens = jobs.making_s();
  tally.work.judging = jobs.judging_s();
  return tally;
}

}  // namespace assay
