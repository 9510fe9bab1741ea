// SPDX-License-Identifier: Apache-2.0
// The queues of a run, one for each kernel: they give workers their orders, take in the replies, and hand results on to be
// judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "validate/judge/run/in_judging.hpp"
#include "validate/judge/run/jobs.hpp"
#include "validate/judge/run/kernel_queue.hpp"
#include "validate/judge/run/records_in_order.hpp"
#include "validate/judge/run/rooms.hpp"
#include "validate/judge/run/terms.hpp"

namespace assay {

class Queues {
 public:
  Queues(std::span<const Task>, const Terms&, Rooms&, Jobs&, RecordsInOrder&, InJudging&);

  void add(const std::shared_ptr<Prepared>&);  // to the queues of its kernels
  void send_related();                         // orders the related problems that the pool has made
  // Gives tasks to workers that have none, as far as the machine has room.  The tasks before index `prepared` have been added, or
  // will not be.
  void dispatch(std::size_t prepared);
  // Waits for replies and takes them in.  Also returns if the pool has finished a job.
  void wait(int milliseconds);
  // Skips all tasks.  Workers are ended; related problems that are being made go on unheeded.
  void cut();
  void end_workers();
  double workers_s() const { return workers_s_; }  // seconds summed over orders

 private:
  int running() const;
  bool unused(const Prepared&) const;
  bool room_for(const KernelQueue&);
  void skip_unwanted(KernelQueue&);
  template <class Work>
  void or_skip(KernelQueue&, Work);
  void start(KernelQueue&);
  void take(KernelQueue&, Verdict, Reply);
  void go_on(KernelQueue&);
  void order_related(KernelQueue&, const std::optional<Related>&);
  void finish(KernelQueue&, Verdict, Reply);

  const Terms& terms_;
  Rooms& rooms_;
  Jobs& jobs_;
  RecordsInOrder& records_;
  InJudging& in_judging_;
  std::vector<KernelQueue> queues_;
  std::int64_t last_order_ = 0;
  double workers_s_ = 0;
};

}  // namespace assay
