// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/run/queues.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "validate/base/used.hpp"
#include "validate/judge/run/launches.hpp"

namespace assay {

namespace {

// Whether a case's tensors, with the gaps between rows, take much of a GPU's memory.  Two such cases beside each other may have
// no room where each alone has.
bool large_on_gpu(const Prepared& p, const Terms& terms) {
  constexpr double kMuch = 0x1p30;
  double bytes = 0;
  for (const Placement& place : p.packing.placements) bytes += static_cast<double>(place.bytes);
  return terms.on_gpu() && bytes > kMuch;
}

}  // namespace

Queues::Queues(std::span<const Task> tasks, const Terms& terms, Rooms& rooms, Jobs& jobs, RecordsInOrder& records,
               InJudging& in_judging)
    : terms_(terms), rooms_(rooms), jobs_(jobs), records_(records), in_judging_(in_judging) {
  for (std::size_t i = 0; i < tasks.size(); ++i)
    for (const Kernel* k : tasks[i].kernels) {
      auto queue = std::find_if(queues_.begin(), queues_.end(), [&](const KernelQueue& q) { return q.kernel == k; });
      if (queue == queues_.end()) queue = queues_.insert(queue, KernelQueue(*k));
      queue->last_task = i;
    }
}

void Queues::add(const std::shared_ptr<Prepared>& p) {
  const std::vector<const Kernel*>& kernels = p->task->kernels;
  for (const Kernel* k : kernels)
    std::find_if(queues_.begin(), queues_.end(), [&](const KernelQueue& q) { return q.kernel == k; })->tasks.push_back(p);
}

void Queues::dispatch(std::size_t prepared) {
  for (KernelQueue& queue : queues_) {
    skip_unwanted(queue);
    // Note: an idle worker still holds a GPU context, half a gigabyte of device memory.
    if (!queue.running() && queue.tasks.empty() && prepared > queue.last_task) queue.worker.end();
    if (queue.running() || queue.tasks.empty() || running() >= terms_.workers() || !room_for(queue)) continue;
    if (const Prepared& p = *queue.tasks.front(); !unused(p)) queue.current.memory = rooms_.memory.take(p.needs.kernel);
    queue.current.of = queue.tasks.front();
    queue.tasks.pop_front();
    or_skip(queue, [&] { start(queue); });
  }
  // So that no queue always comes first.
  std::rotate(queues_.begin(), queues_.begin() + (queues_.empty() ? 0 : 1), queues_.end());
}

void Queues::skip_unwanted(KernelQueue& queue) {
  while (!queue.tasks.empty() && terms_.enough(*queue.kernel)) {
    records_.skip(record_number(*queue.tasks.front(), *queue.kernel), Terms::kEnough, false);
    queue.tasks.pop_front();
  }
}

int Queues::running() const {
  return static_cast<int>(std::count_if(queues_.begin(), queues_.end(), [](const KernelQueue& q) { return q.running(); }));
}

// Whether no kernel runs or is judged on the case.  Its own share of the memory has room for one.
bool Queues::unused(const Prepared& p) const {
  return !in_judging_.has(p) &&
         std::none_of(queues_.begin(), queues_.end(), [&](const KernelQueue& q) { return q.current.of.get() == &p; });
}

// Whether one more kernel may run now.  The only one may.
bool Queues::room_for(const KernelQueue& queue) {
  if (!queue.worker.started() && !rooms_.files.has(kFilesOfOne))
    for (KernelQueue& other : queues_)
      if (!other.running()) other.worker.end();
  const Prepared& p = *queue.tasks.front();
  const auto fills_gpu = [&](const KernelQueue& q) { return q.running() && large_on_gpu(*q.current.of, terms_); };
  if (large_on_gpu(p, terms_) && std::any_of(queues_.begin(), queues_.end(), fills_gpu)) return false;
  return (running() == 0 || rooms_.files.has(kFilesOfOne)) && (unused(p) || rooms_.memory.has(p.needs.kernel));
}

// Does some work for the queue's task.  If the machine cannot, the task is skipped, and its worker is ended.
template <class Work>
void Queues::or_skip(KernelQueue& queue, Work work) {
  or_machine(work, [&](const std::string& why) {
    queue.worker.end();
    finish(queue, Verdict::skipped, {.message = why, .tainted = true});
  });
}

void Queues::start(KernelQueue& queue) {
  CurrentTask& current = queue.current;
  const Prepared& p = *current.of;
  if (queue.kernel->finite_inputs && !p.finite) return finish(queue, Verdict::unsupported, {.message = "declares finite inputs"});
  if (!queue.kernel->loaded || queue.kernel->loaded->of_set) note_used(queue.kernel->op);
  current.files = rooms_.files.take(2);  // outputs, or inputs and outputs of a related problem
  Order order = order_of(*p.task->op, p.task->c, p.packing, queue.kernel->name);
  order.input_sets = p.input_sets;
  order.runs = runs_of(*queue.kernel, p, terms_.options());
  current.outputs = std::make_shared<SharedMemory>(order.runs.size() * p.packing.output_bytes);
  if (!queue.worker.started()) queue.worker.start(terms_.options().backend, rooms_.files);
  queue.worker.send(++last_order_, std::move(order), p.inputs, *current.outputs);
}

void Queues::wait(int milliseconds) {
  std::vector<pollfd> polled;
  // Seconds since each order was sent, taken before poll(): taking in replies does not count as a worker's time.
  std::vector<std::pair<KernelQueue*, double>> waiting;
  for (KernelQueue& queue : queues_)
    if (queue.worker.ordered()) {
      polled.push_back({queue.worker.socket(), POLLIN, 0});
      waiting.push_back({&queue, queue.worker.waited_s()});
    }
  polled.push_back({jobs_.ended(), POLLIN, 0});
  ::poll(polled.data(), polled.size(), milliseconds);
  if (polled.back().revents) jobs_.forget_ended();
  const double most_s = terms_.options().timeout_s;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    KernelQueue& queue = *waiting[i].first;
    if (polled[i].revents) {
      auto [verdict, reply] = queue.worker.receive(terms_.patience());
      take(queue, verdict, std::move(reply));
    } else if (queue.worker.late(waiting[i].second, most_s, terms_.on_gpu())) {
      take(queue, Verdict::timeout, {.message = fmt::format("no answer within {} s", most_s), .tainted = true});
    }
  }
}

// Takes in a reply, or one that stands for a crash or a timeout.  A tainted worker is replaced.
void Queues::take(KernelQueue& queue, Verdict verdict, Reply reply) {
  CurrentTask& current = queue.current;
  workers_s_ += queue.worker.close_order();
  if (reply.tainted) queue.worker.end();
  (current.on_related ? current.related_outputs : *current.outputs).close_descriptor();
  const bool does_not_apply = current.on_related && verdict == Verdict::unsupported;
  if (verdict != Verdict::passed && !does_not_apply) return finish(queue, verdict, std::move(reply));
  if (!current.on_related) {
    current.reply = std::move(reply);
  } else {
    if (!does_not_apply)
      current.related.push_back({current.relation(), std::move(current.related_outputs), std::move(reply.steps)});
    ++current.next_relation;
  }
  go_on(queue);
}

// Has the pool make the next related problem, or finishes the queue's task if all its relations have been tried.
void Queues::go_on(KernelQueue& queue) {
  CurrentTask& current = queue.current;
  if (current.all_related()) return finish(queue, Verdict::passed, std::move(current.reply));
  current.making = jobs_.make(current.making_related(*queue.kernel));
}

void Queues::send_related() {
  for (KernelQueue& queue : queues_)
    if (queue.current.making.valid() && ready(queue.current.making))
      or_skip(queue, [&] { order_related(queue, queue.current.making.get()); });
}

void Queues::order_related(KernelQueue& queue, const std::optional<Related>& related) {
  CurrentTask& current = queue.current;
  if (!related) {
    ++current.next_relation;
    return go_on(queue);
  }
  Order order = current.order_related(*queue.kernel, *related);
  queue.worker.send(++last_order_, std::move(order), current.related_inputs, current.related_outputs);
}

void Queues::finish(KernelQueue& queue, Verdict verdict, Reply reply) {
  CurrentTask& current = queue.current;
  Room::Share memory = std::move(current.memory);
  WorkerResult result{std::move(current.of),      queue.kernel, std::move(current.outputs),
                      std::move(current.related), verdict,      std::move(reply)};
  current = {};
  in_judging_.add(std::move(result), std::move(memory));
}

void Queues::cut() {
  for (KernelQueue& queue : queues_) {
    if (queue.running()) queue.tasks.push_front(queue.current.of);
    for (const std::shared_ptr<Prepared>& p : queue.tasks)
      records_.skip(record_number(*p, *queue.kernel), terms_.over_budget(), true);
    queue.tasks.clear();
    queue.worker.end();
    queue.current = {};
  }
}

void Queues::end_workers() {
  for (KernelQueue& queue : queues_) queue.worker.end();
}

}  // namespace assay
