// SPDX-License-Identifier: Apache-2.0
// The worker's side of the protocol: receives orders, executes them, and turns exceptions into replies.
#include "validate/worker/worker.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "validate/base/child.hpp"
#include "validate/base/descriptors.hpp"
#include "validate/base/machine.hpp"
#include "validate/base/memory.hpp"
#include "validate/worker/guarded_buffer.hpp"
#include "validate/worker/sandbox.hpp"
#include "validate/worker/session.hpp"
#include "validate/worker/shared_memory.hpp"

namespace assay {

namespace {

// Bytes of writable memory that this process has, and how many it may have.
std::size_t data_bytes() {
  char text[256] = {};
  const int fd = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);  // Note: a stream would allocate memory
  if (fd < 0 || ::read(fd, text, sizeof text - 1) < 0) text[0] = 0;
  ::close(fd);
  std::size_t pages = 0;
  if (std::sscanf(text, "%*s %*s %*s %*s %*s %zu", &pages) != 1) return 0;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}
std::size_t most_data() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_DATA, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

// Whether it is the kernel that has taken the memory, where none was left: half of what a worker may have, beside its order's.
bool took_all_memory(std::size_t of_order) { return data_bytes() > most_data() / 2 + of_order; }

// The machine is at fault, and not the kernel.
Reply machine_reply(std::int64_t id, const std::string& why) {
  return {.id = id, .status = Reply::Status::skipped, .message = std::string(kMachine) + why, .tainted = true};
}

Reply execute(Backend& backend, const Order& order, int input_fd, int output_fd) {
  const auto failed = [&](std::string why) -> Reply {
    return {.id = order.id, .status = Reply::Status::failed, .message = std::move(why), .tainted = true};
  };
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
    if (took_all_memory(4 * (order.input_bytes + order.output_bytes)))
      return failed("asked for more memory than a worker may have");
    return machine_reply(order.id, "the worker found no memory");
  } catch (const std::exception& e) {
    return failed(e.what());
  }
}

// Ends the worker where an exception finds no handler.  That memory has run out is not the kernel's fault, unless it took it all.
[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    if (!took_all_memory(0)) ::_exit(kMachineFailed);
  } catch (...) {
  }
  std::abort();
}

// Receives a message; those of an order come with two descriptors.  Returns false if the socket is closed.
// Throws std::runtime_error if the machine fails.
bool receive(std::string& text, int (&fds)[2]) {
  std::vector<char> buffer(1 << 16);
  const ssize_t n = receive_with(kWorkerSocket, buffer, fds);
  // Note: a kernel may have closed the socket, or put something else in its place.
  if (n < 0 && errno != EBADF && errno != ENOTSOCK && errno != ECONNRESET)
    throw std::runtime_error(std::string("the worker cannot receive: ") + std::strerror(errno));
  if (n <= 0) return false;
  text.assign(buffer.data(), static_cast<std::size_t>(n));
  return true;
}

// Returns false if the socket is lost.  Throws std::runtime_error if the machine fails.
bool reply_with(const std::string& text) {
  ssize_t n;
  do {
    n = ::send(kWorkerSocket, text.data(), text.size(), MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == ENOBUFS || errno == ENOMEM)) throw std::runtime_error("the worker cannot reply");
  return n == static_cast<ssize_t>(text.size());
}

// Whether this process has a child, running or ended.  Ends those that it has.
bool left_a_process() {
  if (::waitpid(-1, nullptr, WNOHANG | __WALL) < 0) return false;
  for (const pid_t child : children()) ::kill(child, SIGKILL);
  return true;
}

int serve_all(const Listing& about, const std::function<void()>& load,
              const std::function<std::unique_ptr<Backend>()>& open_backend) {
  const pid_t self = ::getpid();
  const std::string fault = arithmetic_fault();
  std::unique_ptr<Backend> backend;
  std::string why_not_loaded;
  bool loaded = false;
  std::string text;
  int fds[2];
  while (receive(text, fds)) {
    try {
      if (!std::exchange(loaded, true)) load();
    } catch (const std::bad_alloc&) {
      return kMachineFailed;
    } catch (const std::exception& e) {
      why_not_loaded = e.what();
    }
    if (::getpid() != self) ::_exit(0);  // a process that a plugin's constructor made
    if (is_question(text)) {
      Listing list = about;
      list.refused = why_not_loaded;
      for (const Kernel& k : kernels())
        if (!about.built.empty() || launcher_on(about.backend, k)) list.kernels.push_back(listed(k));
      if (!reply_with(answer(text, std::move(list)))) return kSocketLost;
      continue;
    }
    Reply reply;
    const std::int64_t id = id_of(text);
    bool preparing = false;  // while it is true, what fails is not the kernel's fault
    try {
      const Order order = order_from(text);
      preparing = true;
      if (fds[0] < 0) throw std::runtime_error("the order came without its memory");
      if (!fault.empty()) throw std::runtime_error(fault);
      if (!why_not_loaded.empty()) {
        preparing = false;
        throw std::runtime_error(why_not_loaded);
      }
      if (!backend) backend = open_backend();
      preparing = false;
      reply = execute(*backend, order, fds[0], fds[1]);
      if (::getpid() != self) ::_exit(0);  // a process that the kernel made has come back from it
      backend->settle();
      if (left_a_process())
        reply = {.id = id, .status = Reply::Status::failed, .message = "it left a process behind", .tainted = true};
    } catch (const std::bad_alloc&) {
      reply = machine_reply(id, "the worker found no memory");
    } catch (const std::exception& e) {
      reply = preparing ? machine_reply(id, e.what())
                        : Reply{.id = id, .status = Reply::Status::failed, .message = e.what(), .tainted = true};
    }
    if (!reply_with(to_text(reply))) return kSocketLost;
  }
  return 0;
}

}  // namespace

int serve(const Listing& about, const std::function<void()>& load,
          const std::function<std::unique_ptr<Backend>()>& open_backend) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // so that left_a_process() sees processes of processes too
  ::signal(SIGINT, SIG_IGN);           // the judge decides when a run ends
  std::set_terminate(on_terminate);
  try {
    limit_memory();
    if (!confine(confined_on(about.backend))) return kMachineFailed;
    return serve_all(about, load, open_backend);
  } catch (const std::exception&) {
    return kMachineFailed;
  }
}

}  // namespace assay
