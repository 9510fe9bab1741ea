// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/run/kernel_worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "validate/judge/run/rooms.hpp"

namespace assay {

namespace {

std::vector<std::string> command_of(const Kernel& k, std::string_view backend) {
  if (!k.loaded) return own_worker(backend);
  std::vector<std::string> command = k.loaded->command;
  if (k.loaded->of_set) command.back() = backend;
  return command;
}

// Leaves of a reply the numerics of steps that are not known here.  Returns whether it tells those of each output, if any.
bool take_steps(const Kernel& k, std::vector<Numerics>& steps) {
  if (!has_steps_elsewhere(k)) {
    steps.clear();
    return true;
  }
  return std::ranges::count(find_op(k.op)->tensors, Role::output, &TensorSpec::role) == std::ssize(steps);
}

Verdict verdict_of(Reply::Status status) {
  switch (status) {
    case Reply::Status::done: return Verdict::passed;
    case Reply::Status::unsupported: return Verdict::unsupported;
    case Reply::Status::skipped: return Verdict::skipped;
    case Reply::Status::failed: break;
  }
  return Verdict::failed;
}

// What stands for a reply that is none.
std::pair<Verdict, Reply> instead(std::string why) {
  const Verdict verdict = why.starts_with(kMachine) ? Verdict::skipped : Verdict::crashed;
  return {verdict, Reply{.message = std::move(why), .tainted = true}};
}

}  // namespace

void KernelWorker::start(std::string_view backend, Room& files) {
  process_ = std::make_unique<WorkerProcess>(command_of(*kernel_, backend));
  files_ = files.take(kFilesOfWorker);
}

void KernelWorker::end() {
  process_.reset();
  files_ = {};
  order_ = 0;
}

void KernelWorker::send(std::int64_t id, Order order, const SharedMemory& from, const SharedMemory& to) {
  order_ = id;
  order.id = id;
  runs_ = order.runs.size();
  sent_ = {};
  waited_before_ = process_->waited_for_core_s();
  process_->send(order, from, to);
}

bool KernelWorker::late(double seconds, double timeout_s, bool on_gpu) const {
  constexpr double kLongest = 10;
  if (seconds <= timeout_s) return false;
  const bool own = !kernel_->loaded || is_own_worker(kernel_->loaded->command);
  if (on_gpu || !own || seconds > kLongest * timeout_s) return true;
  return seconds - (process_->waited_for_core_s() - waited_before_) > timeout_s;
}

std::pair<Verdict, Reply> KernelWorker::receive(double patience_s) {
  std::optional<Reply> r = process_->receive();
  if (!r) return instead(process_->cause_of_death(patience_s));
  if (r->id != order_) return instead("the worker answered another order than its last");
  if (r->status == Reply::Status::done && (r->ran > runs_ || r->ran < std::min<std::size_t>(runs_, kRuns)))
    return instead(fmt::format("the worker says that it made {} of {} runs", r->ran, runs_));
  if (!take_steps(*kernel_, r->steps) && r->status == Reply::Status::done)
    return instead("the worker does not tell the numerics of each step");
  return {verdict_of(r->status), std::move(*r)};
}

double KernelWorker::close_order() {
  order_ = 0;
  return waited_s();
}

}  // namespace assay
