// SPDX-License-Identifier: Apache-2.0
// A kernel of a run: the prepared tasks that wait for it, its worker, and the task that the worker has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "validate/judge/judge_result.hpp"
#include "validate/judge/run/kernel_worker.hpp"
#include "validate/problem/relate.hpp"
#include "validate/problem/relations.hpp"
#include "validate/tasks/room.hpp"

namespace assay {

// A task at a worker: first the case itself, then its related problems, each made after the reply to the one before.
struct CurrentTask {
  std::shared_ptr<Prepared> of{};  // null: there is none
  Room::Share memory{}, files{};
  std::shared_ptr<SharedMemory> outputs{};  // the job that makes a related problem has them too
  Reply reply{};                            // of the case itself
  std::vector<RelatedRun> related{};
  std::size_t next_relation = 0;  // index in of->relations
  bool on_related = false;        // the worker's order is for a related problem
  std::future<std::optional<Related>> making{};
  SharedMemory related_inputs{}, related_outputs{};

  const Relation* relation() const { return find_relation(*of->task->op, of->task->c, of->relations[next_relation]); }
  bool all_related() const { return next_relation == of->relations.size(); }
  // A job that makes the next related problem.  It gives none if the relation does not apply, or has a value that the kernel does
  // not take.
  auto making_related(const Kernel& kernel) const {
    return [of = of, r = relation(), outputs = outputs, finite = kernel.finite_inputs] {
      const Op& op = *of->task->op;
      std::optional<Related> made = relate(op, of->task->c, *r, of->packing, of->inputs.data(), outputs->data());
      if (made && finite && !all_finite(op, pack(op, made->c), made->inputs.data())) made.reset();
      return made;
    };
  }
  // Makes the memories of a related problem, and its order.
  Order order_related(const Kernel& kernel, const Related& problem) {
    on_related = true;
    const Op& op = *of->task->op;
    const Packing packing = pack(op, problem.c);
    related_inputs = SharedMemory(packing.input_bytes);
    related_outputs = SharedMemory(packing.output_bytes);
    std::copy(problem.inputs.begin(), problem.inputs.end(), related_inputs.data());
    Order made = order_of(op, problem.c, packing, kernel.name);
    made.runs = {{.garbage = kGarbage[0]}};
    return made;
  }
};

struct KernelQueue {
  explicit KernelQueue(const Kernel& k) : kernel(&k), worker(k) {}
  const Kernel* kernel;
  std::size_t last_task = 0;  // index of the last task with this kernel
  std::deque<std::shared_ptr<Prepared>> tasks{};
  KernelWorker worker;
  CurrentTask current{};

  bool running() const { return current.of != nullptr; }
};

}  // namespace assay
