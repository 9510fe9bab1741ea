// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/run/cases_ahead.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "validate/problem/relations.hpp"

namespace assay {

CasesAhead::CasesAhead(std::span<const Task> tasks, std::string fault, std::shared_ptr<const Terms> terms, Rooms& rooms,
                       Jobs& jobs, RecordsInOrder& records)
    : tasks_(tasks), fault_(std::move(fault)), terms_(std::move(terms)), rooms_(rooms), jobs_(jobs), records_(records) {}

void CasesAhead::prepare() {
  const JudgeOptions& options = terms_->options();
  while (next_task_ < tasks_.size()) {
    const Task& task = tasks_[next_task_];
    const bool unwanted = (options.wanted && !options.wanted(task)) || terms_->enough(task);
    std::string why_not = unwanted                 ? Terms::kEnough
                          : !fault_.empty()        ? fault_
                          : terms_->budget_spent() ? terms_->over_budget()
                                                   : "";
    if (why_not.empty()) {
      if (!needs_) needs_ = memory_of(task, options);
      why_not = too_large(task, needs_->peak(), rooms_.available);
      if (why_not.empty() && !room_for(*needs_)) return;
    }
    ++next_task_;
    const std::size_t first = std::exchange(next_record_, next_record_ + task.kernels.size());
    if (why_not.empty()) make(task, first, *needs_);
    else records_.skip(task, first, why_not, !unwanted);
    needs_.reset();
  }
}

// The only case under way always has room.
bool CasesAhead::room_for(const TaskMemory& needs) const {
  if (rooms_.places.untouched()) return true;
  return rooms_.places.has(1) && rooms_.memory.has(needs.peak()) && rooms_.files.has(1 + kFilesOfOne);
}

void CasesAhead::make(const Task& task, std::size_t first_record, const TaskMemory& needs) {
  const auto state = std::make_shared<Making::State>();
  auto job = [own = std::make_shared<const Task>(task), first_record, needs, state, terms = terms_,
              memory = rooms_.memory.take(needs.peak()), place = rooms_.places.take(1), file = rooms_.files.take(1)]() mutable {
    state->began = std::max(1e-9, terms->seconds());
    std::shared_ptr<Prepared> p = state->given_up ? nullptr : assay::prepare(*own, first_record, terms->on_gpu());
    if (!p) return p;
    p->owner = own;
    p->needs = needs;
    p->memory = std::move(memory);
    p->place = std::move(place);
    p->file = std::move(file);
    return p;
  };
  making_.push_back({&task, first_record, state, jobs_.make(std::move(job))});
}

void CasesAhead::give_up() {
  const double most_s = terms_->options().timeout_s;
  for (Making& m : making_) {
    const double began = m.state->began;
    if (!m.pending() || ready(m.prepared)) continue;
    const bool late = began > 0 && terms_->seconds() - began > most_s;
    if (!late && !terms_->budget_spent()) continue;
    m.state->given_up = true;
    if (began > 0) jobs_.no_longer_wait();
    records_.skip(*m.task, m.first_record,
                  late ? fmt::format("its inputs and golden take longer than {} s", most_s) : terms_->over_budget(), true);
  }
}

std::vector<std::shared_ptr<Prepared>> CasesAhead::take_prepared() {
  std::vector<std::shared_ptr<Prepared>> taken;
  for (Making& m : making_) {
    if (!m.pending()) continue;
    if (!ready(m.prepared) && terms_->options().in_order) break;
    if (!ready(m.prepared)) continue;
    or_machine([&] { m.made = m.prepared.get(); },
               [&](const std::string& why) {
                 m.state->given_up = true;
                 records_.skip(*m.task, m.first_record, why, true);
               });
    if (!m.made) continue;
    m.made->relations = relations_of(*m.task->op, m.task->c, terms_->options().relations);
    taken.push_back(m.made);
  }
  return taken;
}

std::shared_ptr<Prepared> CasesAhead::next_in_order() {
  while (!making_.empty() && !making_.front().pending()) {
    const std::shared_ptr<Prepared> made = std::move(making_.front().made);
    making_.pop_front();
    if (made) return made;
  }
  return nullptr;
}

std::size_t CasesAhead::taken() const {
  const auto open = std::find_if(making_.begin(), making_.end(), [](const Making& m) { return m.pending(); });
  return open == making_.end() ? next_task_ : static_cast<std::size_t>(open->task - tasks_.data());
}

}  // namespace assay
