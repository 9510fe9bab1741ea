// SPDX-License-Identifier: Apache-2.0
// The records of a run, which become known in any order and are handed on in the tasks'; with the tally, and with power, whose
// result depends on that order.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "validate/judge/run/terms.hpp"
#include "validate/records/record.hpp"

namespace assay {

struct Prepared;

class RecordsInOrder {
 public:
  RecordsInOrder(std::span<const Task>, const Terms&, const std::function<void(const Record&)>& on_record);

  void emit(std::size_t number, Record);
  // Emits that a kernel, or each kernel of a task, was not run, and why.  `incomplete`: as Record::incomplete.
  void skip(std::size_t number, const std::string& why, bool incomplete);
  void skip(const Task&, std::size_t first_record, const std::string& why, bool incomplete);

  bool finished() const { return emitted_ == known_.size(); }
  bool failed_fast() const { return terms_.options().fail_fast && tally_.bad(); }

  // Has power look at a prepared case, in the tasks' order, and once the run has finished, settle what it has found.
  void look(const Prepared&);
  void settle();

  Tally tally() const { return tally_; }  // without the times of others

 private:
  void tell_power(Record&);

  const Terms& terms_;
  const std::function<void(const Record&)>& on_record_;
  std::vector<std::pair<const Task*, const Kernel*>> of_;      // by number
  std::vector<std::unique_ptr<Record>> known_;                 // by number; null: not yet, or handed on
  std::map<std::size_t, std::map<std::string, bool>> faults_;  // Record::faults, by number
  std::size_t emitted_ = 0;                                    // records before this number have been handed on
  Tally tally_;
};

// The number of the kernel's record on a task.
std::size_t record_number(const Prepared&, const Kernel&);

}  // namespace assay
