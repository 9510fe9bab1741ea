// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/run/in_judging.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace assay {

InJudging::InJudging(std::shared_ptr<const Terms> terms, Jobs& jobs, RecordsInOrder& records)
    : terms_(std::move(terms)), jobs_(jobs), records_(records) {}

void InJudging::add(WorkerResult result, Room::Share memory) {
  const std::size_t number = record_number(*result.of, *result.kernel);
  std::shared_ptr<const Prepared> of = result.of;
  auto job = [terms = terms_, result = std::move(result)] { return judge_result(result, terms->options()); };
  judged_.push_back({number, std::move(of), std::move(memory), jobs_.judge(std::move(job))});
}

bool InJudging::has(const Prepared& p) const {
  return std::any_of(judged_.begin(), judged_.end(), [&](const Judged& j) { return j.of.get() == &p; });
}

void InJudging::emit() {
  for (std::size_t i = 0; i < judged_.size();) {
    Judged& j = judged_[i];
    if (!ready(j.record)) {
      ++i;
      continue;
    }
    std::optional<Record> r;
    std::string fault;
    or_machine([&] { r = j.record.get(); }, [&](const std::string& why) { fault = why; });
    // Note: not above, since what fails after the record is written is another record's affair.
    if (r) records_.emit(j.number, std::move(*r));
    else records_.skip(j.number, fault, true);
    judged_.erase(judged_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void InJudging::cut() {
  for (const Judged& j : judged_) {
    records_.skip(j.number, terms_->over_budget(), true);
    jobs_.no_longer_wait();
  }
  judged_.clear();
}

}  // namespace assay
