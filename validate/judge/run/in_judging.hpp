// SPDX-License-Identifier: Apache-2.0
// What workers returned, while the pool judges it.
#pragma once

#include <cstddef>
#include <future>
#include <memory>
#include <vector>

#include "validate/judge/judge_result.hpp"
#include "validate/judge/run/jobs.hpp"
#include "validate/judge/run/records_in_order.hpp"
#include "validate/judge/run/terms.hpp"
#include "validate/tasks/room.hpp"

namespace assay {

class InJudging {
 public:
  InJudging(std::shared_ptr<const Terms>, Jobs&, RecordsInOrder&);

  void add(WorkerResult, Room::Share memory);
  bool has(const Prepared&) const;  // whether a kernel is being judged on the case
  void emit();                      // emits the records that have been made
  // Skips what has no record yet.  Its jobs go on unheeded, in threads that the pool no longer counts on.
  void cut();

 private:
  struct Judged {
    std::size_t number;
    std::shared_ptr<const Prepared> of;
    Room::Share memory;
    std::future<Record> record;
  };

  std::shared_ptr<const Terms> terms_;
  Jobs& jobs_;
  RecordsInOrder& records_;
  std::vector<Judged> judged_;
};

}  // namespace assay
