// SPDX-License-Identifier: Apache-2.0
// doctor --worker, --plugin and --ptx: checks that a worker keeps to docs/worker-protocol.md.  Whether its kernels are right is
// told by `run`.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "validate/base/error.hpp"
#include "validate/command/commands.hpp"
#include "validate/judge/prepare.hpp"
#include "validate/values/tensor_bits.hpp"
#include "validate/worker/process.hpp"

namespace assay {

namespace {

class Conformance {
 public:
  Conformance(const std::vector<std::string>& command, double timeout_s) : command_(command), timeout_s_(timeout_s) {}

  int run(const Selection& selection) {
    const Kernel& first = kernels()[0];
    say(fmt::format("it says which kernels it has: {} on {}", kernels().size(), first.loaded->backend), {});
    const std::string numbers = fmt::format("\"protocol\":{}", kWorkerProtocol);
    const auto of_another_version = [&](std::string text) {
      text.replace(text.find(numbers), numbers.size(), fmt::format("\"protocol\":{}", kWorkerProtocol + 40));
      return text;
    };
    say("it refuses a question of another version", wrong([&] { return refuses(of_another_version(question(5, 0)), nullptr); }));
    std::vector<Task> tasks = tasks_of(selection, true);
    for (const Kernel& k : kernels()) one_kernel(k, tasks);
    if (!some_) throw BadInput("no kernel takes a case of the suite sanitize, so no order was tried");
    Order order = *some_;
    say("it refuses an order of another version", wrong([&] { return refuses(of_another_version(to_text(order)), &order); }));
    order.kernel = "no_such_kernel";
    say("it refuses an order for a kernel that it lacks", wrong([&] { return refuses(to_text(order), &order); }));
    say("it ends with code 0 when the socket is closed", wrong([&] { return ends(); }));
    fmt::print("{} checks, {} failed\n", checks_, failed_);
    return failed_ ? kVerdictFailed : kAllPassed;
  }

 private:
  // What is wrong by `check`; also that no answer came in time.
  template <class Check>
  static std::string wrong(Check check) {
    try {
      return check();
    } catch (const std::runtime_error& e) {
      return e.what();
    }
  }
  void say(const std::string& what, const std::string& why_not) {
    ++checks_;
    failed_ += !why_not.empty();
    fmt::print("{}  {}{}{}\n", why_not.empty() ? "ok    " : "FAILED", what, why_not.empty() ? "" : ": ", why_not);
    std::fflush(stdout);
  }

  // Sends a message to a new worker, with zeroed memory if it is an order, and returns what is wrong unless the reply refuses it.
  std::string refuses(const std::string& text, const Order* order) {
    WorkerProcess worker(command_);
    const SharedMemory inputs(order ? order->input_sets * order->input_bytes : 1);
    const SharedMemory outputs(order ? order->runs.size() * order->output_bytes : 1);
    if (order) worker.send(text, inputs, outputs);
    else worker.send(text);
    const std::optional<std::string> said = worker.receive_text(timeout_s_);
    if (!said) return "no reply: " + worker.cause_of_death();
    try {
      if (!order) return listing_from(*said, 5).refused.empty() ? "it answered" : "";
      const Reply reply = reply_from(*said);
      if (reply.id != order->id) return fmt::format("the reply has the id {}, {} was expected", reply.id, order->id);
      if (reply.status != Reply::Status::failed || reply.message.empty()) return "the reply is not status 3 with a message";
      return {};
    } catch (const std::exception& e) {
      return fmt::format("what it sent is no reply: {}", said->substr(0, 200));
    }
  }

  // The first two cases that a kernel takes, one of them with gaps between rows.
  void one_kernel(const Kernel& k, const std::vector<Task>& tasks) {
    int done = 0;
    for (const Task& task : tasks) {
      if (task.op->name != k.op || !k.dtypes.has(task.c.dtype) || done == 2) continue;
      if (done == 1 && task.c.layout == "contiguous") continue;
      const std::string why_not = wrong([&] { return one_order(task, k); });
      if (why_not == kNotTaken) continue;
      ++done;
      say(fmt::format("it carries out {}", repro(task.c, task.op->shape(), k.name)), why_not);
    }
  }

  // Sends the same order twice to one worker.
  std::string one_order(const Task& task, const Kernel& k) {
    const std::shared_ptr<Prepared> p = prepare(task, 0);
    Order order = order_of(*task.op, task.c, p->packing, k.name);
    order.input_sets = p->input_sets;
    for (const std::byte garbage : kGarbage) order.runs.push_back({.garbage = garbage});
    some_ = order;
    const SharedMemory outputs[2] = {SharedMemory(kRuns * order.output_bytes), SharedMemory(kRuns * order.output_bytes)};
    WorkerProcess worker(command_);
    for (int time = 0; time < 2; ++time) {
      order.id = 1000 + time;
      worker.send(to_text(order), p->inputs, outputs[time]);
      const std::optional<std::string> said = worker.receive_text(timeout_s_);
      if (!said) return "no reply: " + worker.cause_of_death();
      Reply reply;
      try {
        reply = reply_from(*said);
      } catch (const std::exception&) {
        return fmt::format("what it sent is no reply: {}", said->substr(0, 200));
      }
      if (reply.id != order.id) return fmt::format("the reply has the id {}, {} was expected", reply.id, order.id);
      if (reply.status == Reply::Status::unsupported || reply.status == Reply::Status::skipped) return kNotTaken;
      if (reply.status != Reply::Status::done)
        return fmt::format("the reply has the status {}: {}", static_cast<int>(reply.status), reply.message);
      if (reply.ran != kRuns) return fmt::format("'ran' is {}, {} was expected", reply.ran, kRuns);
    }
    return outputs_wrong(task, *p, order, k, outputs);
  }

  std::string outputs_wrong(const Task& task, const Prepared& p, const Order& order, const Kernel& k,
                            const SharedMemory (&outputs)[2]) {
    for (std::size_t i = 0; i < order.tensors.size(); ++i) {
      const OrderTensor& t = order.tensors[i];
      if (t.role != Role::output || t.place.tensor.rank == 0) continue;
      const auto image = [&](int time, int run) {
        Tensor y = p.packing.placements[i].tensor;
        y.data = outputs[time].data() + static_cast<std::size_t>(run) * order.output_bytes + *t.output;
        return y;
      };
      for (int run = 0; run < kRuns && !t.over && !is_given(task.op->tensors[i]); ++run)
        if (!gaps_intact(image(0, run), t.place.bytes, kGarbage[run]))
          return fmt::format("the gaps between the rows of '{}' do not hold the byte 'garbage' in run {}", t.name, run);
      if (k.deterministic && !same_elements(image(0, 0), image(1, 0)))
        return fmt::format("the same order gives another '{}' when it comes again", t.name);
    }
    return {};
  }

  std::string ends() {
    WorkerProcess worker(command_);
    worker.ask(0, timeout_s_);
    const std::string how = worker.closed();
    return how == "the worker process exited with code 0" ? "" : how;
  }

  static constexpr const char* kNotTaken = "not taken";
  const std::vector<std::string>& command_;
  double timeout_s_;
  std::optional<Order> some_;  // that was tried
  int checks_ = 0, failed_ = 0;
};

}  // namespace

int conformance_command(const RunFlags& flags) {
  std::string backend;
  int code = 0;
  if (!machine_ready(flags, backend, code)) return code;
  Selection selection = flags.selection;
  selection.suite = "sanitize";
  return Conformance(kernels()[0].loaded->command, flags.timeout_s).run(selection);
}

}  // namespace assay
