// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/run/records_in_order.hpp"

#include <algorithm>

#include "validate/base/stopwatch.hpp"
#include "validate/judge/judge_outputs.hpp"
#include "validate/judge/power.hpp"
#include "validate/judge/prepare.hpp"

namespace assay {

RecordsInOrder::RecordsInOrder(std::span<const Task> tasks, const Terms& terms,
                               const std::function<void(const Record&)>& on_record)
    : terms_(terms), on_record_(on_record) {
  for (const Task& t : tasks)
    for (const Kernel* k : t.kernels) of_.emplace_back(&t, k);
  known_.resize(of_.size());
}

void RecordsInOrder::emit(std::size_t number, Record r) {
  known_[number] = std::make_unique<Record>(std::move(r));
  for (; !finished() && known_[emitted_] && !failed_fast(); ++emitted_) {
    Record& next = *known_[emitted_];
    // Note: power looked at this case before, since it looks at a case once all cases up to it are prepared.
    if (terms_.options().power) tell_power(next);
    tally_.add(next);
    on_record_(next);
    known_[emitted_].reset();
  }
}

void RecordsInOrder::skip(std::size_t number, const std::string& why, bool incomplete) {
  const auto [task, kernel] = of_[number];
  Record r = blank_record(*task, *kernel, terms_.options().backend, terms_.options().not_checked);
  r.verdict = Verdict::skipped;
  r.incomplete = incomplete;
  r.reason = why;
  emit(number, std::move(r));
}

void RecordsInOrder::skip(const Task& task, std::size_t first_record, const std::string& why, bool incomplete) {
  for (std::size_t k = 0; k < task.kernels.size(); ++k) skip(first_record + k, why, incomplete);
}

void RecordsInOrder::look(const Prepared& p) {
  const Stopwatch at_work;
  const auto stop = [this] { return terms_.budget_spent(); };
  if (Power* power = terms_.options().power; power && !stop())
    for (auto& [kernel, tried] : power->look(p, stop)) faults_[record_number(p, *kernel)] = std::move(tried);
  tally_.work.power += at_work.seconds();
}

void RecordsInOrder::settle() {
  if (Power* power = terms_.options().power) power->settle([this] { return terms_.budget_spent() || terms_.stopped(); });
}

// Tells power whether the kernel's output of a case was compared: what a kernel does not take shows nothing.
void RecordsInOrder::tell_power(Record& r) {
  Power& power = *terms_.options().power;
  const auto [task, kernel] = of_[emitted_];
  if (r.compared) power.compared(*task, *kernel, r);
  const auto tried = faults_.extract(emitted_);
  if (!tried) return;
  if (r.compared) r.faults = std::move(tried.mapped());
  else power.not_compared(task->c, *kernel, tried.mapped(), r.verdict == Verdict::unsupported && !r.incomplete);
}

std::size_t record_number(const Prepared& p, const Kernel& k) {
  const auto& all = p.task->kernels;
  return p.first_record + static_cast<std::size_t>(std::find(all.begin(), all.end(), &k) - all.begin());
}

}  // namespace assay
