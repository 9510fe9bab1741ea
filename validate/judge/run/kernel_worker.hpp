// SPDX-License-Identifier: Apache-2.0
// A kernel's worker process, which no other kernel uses, and the order that it has not answered yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "validate/base/stopwatch.hpp"
#include "validate/problem/op.hpp"
#include "validate/records/record.hpp"
#include "validate/tasks/room.hpp"
#include "validate/worker/process.hpp"

namespace assay {

class KernelWorker {
 public:
  explicit KernelWorker(const Kernel& kernel) : kernel_(&kernel) {}

  bool started() const { return process_ != nullptr; }
  // Takes its files.  Throws std::runtime_error if it cannot be started.
  void start(std::string_view backend, Room& files);
  void end();

  void send(std::int64_t id, Order, const SharedMemory& from, const SharedMemory& to);
  bool ordered() const { return order_ != 0; }         // whether an order is pending
  int socket() const { return process_->socket(); }    // readable once there is an answer, or the worker has ended
  double waited_s() const { return sent_.seconds(); }  // since the order was sent
  // Whether the pending order, sent so many seconds ago, has taken longer than a kernel may.  The time for which our own worker
  // had no core is the host's and not the kernel's, unless a GPU did the work; ten times the limit is the end in any case.
  bool late(double seconds, double timeout_s, bool on_gpu) const;
  // The answer to the pending order, or one that stands for the end of the worker or for a reply that is none; and the verdict so
  // far, by which `passed` leaves it to the outputs.
  std::pair<Verdict, Reply> receive(double patience_s);
  double close_order();  // no order is pending any more; returns waited_s()

 private:
  const Kernel* kernel_;
  std::unique_ptr<WorkerProcess> process_;
  Room::Share files_;
  std::int64_t order_ = 0;    // id of the pending order; 0: none
  std::size_t runs_ = 0;      // that it asks for
  Stopwatch sent_;            // started when it was sent
  double waited_before_ = 0;  // WorkerProcess::waited_for_core_s() then
};

}  // namespace assay
