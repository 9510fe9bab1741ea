// SPDX-License-Identifier: Apache-2.0
// The worker's side of the protocol: receives orders, executes them, and turns exceptions into replies.
#include "validate/worker/worker.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <new>
#include <utility>

#include "validate/base/machine.hpp"
#include "validate/base/memory.hpp"
#include "validate/worker/guarded_buffer.hpp"
#include "validate/worker/session.hpp"
#include "validate/worker/shared_memory.hpp"

namespace assay {

namespace {

// The machine is at fault, and not the kernel.
Reply machine_reply(std::int64_t id, const std::string& why) {
  return {.id = id, .status = Reply::Status::skipped, .message = std::string(kMachine) + why, .tainted = true};
}

Reply execute(Backend& backend, const Order& order, int input_fd, int output_fd) {
  try {
    const Op* op = find_op(order.op);
    const Kernel* kernel = op ? find_kernel(order.op, order.kernel) : nullptr;
    if (!kernel) throw std::runtime_error("unknown kernel " + order.op + "/" + order.kernel);
    SharedMemory inputs, outputs;
    try {
      inputs = SharedMemory(input_fd, order.input_sets * order.input_bytes, false);
      outputs = SharedMemory(output_fd, order.runs.size() * order.output_bytes, true);
    } catch (const std::exception& e) {
      return machine_reply(order.id, e.what());
    }
    return run_order(backend, *op, *kernel, order, inputs, outputs);
  } catch (const SideEffect& m) {
    return {.id = order.id, .status = Reply::Status::failed, .message = m.what(), .outputs = true};
  } catch (const BackendFinding& f) {
    return {.id = order.id, .status = Reply::Status::failed, .message = f.kind + ": " + f.what()};
  } catch (const std::bad_alloc&) {
    return {.id = order.id,
            .status = Reply::Status::failed,
            .message = "asked for more memory than a worker may have",
            .tainted = true};
  } catch (const std::exception& e) {
    return {.id = order.id, .status = Reply::Status::failed, .message = e.what(), .tainted = true};
  }
}

// Receives a message; those of an order come with two descriptors.  Returns false if the socket is closed.
bool receive(std::string& text, int (&fds)[2]) {
  std::vector<char> buffer(1 << 16);
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)];
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  const ssize_t n = ::recvmsg(kWorkerSocket, &message, MSG_CMSG_CLOEXEC);
  if (n <= 0) return false;
  text.assign(buffer.data(), static_cast<std::size_t>(n));
  fds[0] = fds[1] = -1;
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (head && head->cmsg_len == CMSG_LEN(sizeof fds)) std::memcpy(fds, CMSG_DATA(head), sizeof fds);
  return true;
}

bool reply_with(const std::string& text) {
  return ::send(kWorkerSocket, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// Makes a candidate that allocates without end fail before the machine runs out of memory.  If it runs out all the same, the
// system kills the worker and not the judge.  RLIMIT_DATA counts writable memory, but not address space that is only reserved.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__)  // its shadow memory exceeds any limit
  const std::size_t most = available_memory() / 16 * 15;
  const rlimit limit{most, most};
  ::setrlimit(RLIMIT_DATA, &limit);
#endif
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);  // crashes are expected, so no core dumps
}

// Whether this process has a child, running or ended.  Ends those that it has.
bool left_a_process() {
  if (::waitpid(-1, nullptr, WNOHANG | __WALL) < 0) return false;
  std::ifstream children("/proc/thread-self/children");
  for (pid_t child = 0; children >> child;) ::kill(child, SIGKILL);
  return true;
}

}  // namespace

int serve(const Listing& about, const std::function<void()>& load,
          const std::function<std::unique_ptr<Backend>()>& open_backend) {
  const pid_t self = ::getpid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // so that left_a_process() sees processes of processes too
  ::signal(SIGINT, SIG_IGN);           // the judge decides when a run ends
  limit_memory();
  const std::string fault = arithmetic_fault();
  std::unique_ptr<Backend> backend;
  std::string why_not_loaded;
  bool loaded = false;
  std::string text;
  int fds[2];
  while (receive(text, fds)) {
    try {
      if (!std::exchange(loaded, true)) load();
    } catch (const std::exception& e) {
      why_not_loaded = e.what();
    }
    if (::getpid() != self) ::_exit(0);  // a process that a plugin's constructor made
    if (is_question(text)) {
      Listing list = about;
      list.refused = why_not_loaded;
      for (const Kernel& k : kernels())
        if (!k.numerics.of_output) list.kernels.push_back(listed(k));  // Note: no text says such numerics
      if (!reply_with(answer(text, std::move(list)))) return kSocketLost;
      continue;
    }
    Reply reply;
    const std::int64_t id = id_of(text);
    bool opening = false;
    try {
      const Order order = order_from(text);
      if (!why_not_loaded.empty()) throw std::runtime_error(why_not_loaded);
      if (fds[0] < 0) throw std::runtime_error("the order came without its memory");
      if (!fault.empty()) {
        if (!reply_with(to_text(machine_reply(id, fault)))) return kSocketLost;
        continue;
      }
      opening = true;
      if (!backend) backend = open_backend();
      opening = false;
      reply = execute(*backend, order, fds[0], fds[1]);
      if (::getpid() != self) ::_exit(0);  // a process that the kernel made has come back from it
      backend->settle();
      if (left_a_process())
        reply = {.id = id, .status = Reply::Status::failed, .message = "it left a process behind", .tainted = true};
    } catch (const std::exception& e) {
      reply = {.id = id, .status = Reply::Status::failed, .message = e.what(), .tainted = true};
      if (opening) reply = machine_reply(id, e.what());
    }
    if (!reply_with(to_text(reply))) return kSocketLost;
  }
  return 0;
}

}  // namespace assay
