// SPDX-License-Identifier: Apache-2.0
// The worker's side of the protocol: receives orders, executes them, and turns exceptions into replies.
#include "validate/worker/worker.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cstring>
#include <fstream>
#include <new>

#include "validate/base/memory.hpp"
#include "validate/worker/guarded_buffer.hpp"
#include "validate/worker/session.hpp"
#include "validate/worker/shared_memory.hpp"

namespace assay {

namespace {

Reply execute(Backend& backend, const Order& order, int input_fd, int output_fd) {
  try {
    const Op* op = find_op(order.op);
    const Kernel* kernel = op ? find_kernel(order.op, order.kernel) : nullptr;
    if (!kernel) throw std::runtime_error("unknown kernel " + order.op + "/" + order.kernel);
    const SharedMemory inputs(input_fd, order.input_sets * order.input_bytes, false);
    const SharedMemory outputs(output_fd, order.runs.size() * order.output_bytes, true);
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

// Receives a message with two descriptors.  Returns false if the socket is closed or the descriptors are missing.
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
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (!head || head->cmsg_len != CMSG_LEN(sizeof fds)) return false;
  std::memcpy(fds, CMSG_DATA(head), sizeof fds);
  return true;
}

bool reply_with(const Reply& reply) {
  const std::string text = to_text(reply);
  return ::send(kWorkerSocket, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// Makes a candidate that allocates without end fail before the machine runs out of memory.  If it runs out all the same, the
// system kills the worker and not the judge.  RLIMIT_DATA counts writable memory, but not address space that is only reserved.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__)  // its shadow memory exceeds any limit
  const std::size_t most = available_memory() / 4 * 3;
  const rlimit limit{most, most};
  ::setrlimit(RLIMIT_DATA, &limit);
#endif
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);  // crashes are expected, so no core dumps
}

}  // namespace

int serve(const std::function<std::unique_ptr<Backend>()>& open_backend) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGINT, SIG_IGN);  // the judge decides when a run ends
  limit_memory();
  std::unique_ptr<Backend> backend;
  std::string text;
  int fds[2];
  while (receive(text, fds)) {
    Reply reply;
    std::int64_t id = 0;
    bool opening = false;
    try {
      const Order order = order_from(text);
      id = order.id;
      opening = true;
      if (!backend) backend = open_backend();
      opening = false;
      reply = execute(*backend, order, fds[0], fds[1]);
    } catch (const std::exception& e) {
      reply = {.id = id, .status = Reply::Status::failed, .message = e.what(), .tainted = true};
      if (opening)  // not the kernel's fault
        reply.status = Reply::Status::skipped, reply.message = std::string("the machine cannot be used: ") + e.what();
    }
    if (!reply_with(reply)) return kSocketLost;
  }
  return 0;
}

}  // namespace assay
