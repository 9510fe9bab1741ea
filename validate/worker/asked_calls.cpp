// SPDX-License-Identifier: Apache-2.0
#include "validate/worker/asked_calls.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "validate/base/descriptors.hpp"

namespace assay {

namespace {

// --- newer than the headers of some systems ----------------------------------------------------------------------------
struct AddedDescriptor {
  std::uint64_t id;
  std::uint32_t flags, ours, theirs, their_flags;
};
constexpr unsigned long kAddDescriptor = _IOW('!', 3, AddedDescriptor);
constexpr std::uint32_t kAndReturnIt = 1 << 1, kGoOn = 1 << 0;

// The process of a thread; 0 if it has ended.  Note: by lines, since a name of a thread may have any words, but ends no line.
pid_t process_of(std::uint32_t thread) {
  constexpr std::string_view kProcess = "Tgid:\t";
  std::ifstream status(fmt::format("/proc/{}/status", thread));
  pid_t process = 0;
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(kProcess)) std::from_chars(line.data() + kProcess.size(), line.data() + line.size(), process);
  return process;
}

// Whether a thread, or the process of this number, belongs to the process.
bool belongs(pid_t thread, pid_t process) {
  return thread > 0 && process > 0 && ::access(fmt::format("/proc/{}/task/{}", process, thread).c_str(), F_OK) == 0;
}

// The text at an address of a process, as much of it as a path of a thread's name may have.
std::string text_at(std::uint32_t thread, std::uint64_t address) {
  char text[64] = {};
  const int memory = ::open(fmt::format("/proc/{}/mem", thread).c_str(), O_RDONLY | O_CLOEXEC);
  if (memory < 0) return {};
  const ssize_t n = ::pread(memory, text, sizeof text - 1, static_cast<off_t>(address));
  ::close(memory);
  return n > 0 ? text : "";
}

// The thread of the process whose name this path of a file has.
std::optional<pid_t> named_by(std::string_view path, pid_t process, pid_t caller) {
  if (path == "/proc/thread-self/comm") return caller;
  const std::string own = fmt::format("/proc/{}/", process);
  constexpr std::string_view kSelf = "/proc/self/", kTask = "task/", kFile = "/comm";
  if (path.starts_with(kSelf)) path.remove_prefix(kSelf.size());
  else if (path.starts_with(own)) path.remove_prefix(own.size());
  else return std::nullopt;
  if (path == "comm") return process;
  if (!path.starts_with(kTask) || !path.ends_with(kFile)) return std::nullopt;
  path.remove_prefix(kTask.size());
  path.remove_suffix(kFile.size());
  pid_t thread = 0;
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), thread);
  return error == std::errc() && end == path.data() + path.size() ? std::optional(thread) : std::nullopt;
}

// Opens the name of one of the caller's threads for it.  Returns false if it asks for something else.
// Note: this process builds the path anew, since the caller may change its own meanwhile.
bool gives_name(int listener, const seccomp_notif& call) {
#if defined(SYS_open)
  const int first = call.data.nr == SYS_open ? 0 : 1;
#else
  const int first = 1;
#endif
  const pid_t process = process_of(call.pid);
  const std::string path = text_at(call.pid, call.data.args[first]);
  const std::optional<pid_t> thread = named_by(path, process, static_cast<pid_t>(call.pid));
  if (!thread || !belongs(*thread, process)) return false;
  const auto flags = static_cast<int>(call.data.args[first + 1]);
  const int name = ::open(fmt::format("/proc/{}/task/{}/comm", process, *thread).c_str(), (flags & O_ACCMODE) | O_CLOEXEC);
  if (name < 0) return false;
  // Note: the call still waits, so the process whose name was opened is the caller's.
  const bool waits = ::ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call.id) == 0;
  const AddedDescriptor added{call.id, kAndReturnIt, static_cast<std::uint32_t>(name), 0,
                              static_cast<std::uint32_t>(flags & O_CLOEXEC)};
  const bool given = waits && ::ioctl(listener, kAddDescriptor, &added) >= 0;
  ::close(name);
  return given;
}

// Whether a call that changes a process changes the caller's own.
bool changes_itself(const seccomp_notif& call) {
  const auto number = [&](int argument) { return static_cast<std::int32_t>(call.data.args[argument]); };
  constexpr std::int32_t kOneProcess = 0, kOneProcessOfDisks = 1;  // PRIO_PROCESS, IOPRIO_WHO_PROCESS
  if (call.data.nr == SYS_setpriority && number(0) != kOneProcess) return false;
  if (call.data.nr == SYS_ioprio_set && number(0) != kOneProcessOfDisks) return false;
  const bool second = call.data.nr == SYS_setpriority || call.data.nr == SYS_ioprio_set;
  return belongs(number(second ? 1 : 0), process_of(call.pid));
}

bool opens(int call) {
#if defined(SYS_open)
  if (call == SYS_open) return true;
#endif
  return call == SYS_openat;
}

void decide(int listener) {
  seccomp_notif call{};
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;  // the caller has been killed
  // What opens a file goes on, and Landlock decides.
  const bool opening = opens(call.data.nr);
  bool goes_on = opening;
  try {
    if (opening && gives_name(listener, call)) return;
    goes_on = opening || changes_itself(call);
  } catch (const std::exception&) {  // no memory
  }
  seccomp_notif_resp answer{};
  answer.id = call.id;
  if (goes_on) answer.flags = kGoOn;
  else answer.error = -EPERM;
  ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

// Waits until a descriptor can be read.  Returns false if it never will, or the event has come.
bool readable(int fd, int event) {
  pollfd polled[2] = {{fd, POLLIN, 0}, {event, POLLIN, 0}};
  while (::poll(polled, 2, -1) < 0)
    if (errno != EINTR) return false;
  return !polled[1].revents && (polled[0].revents & POLLIN);
}

}  // namespace

AskedCalls::AskedCalls(int over) : over_(over) {
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_) != 0)
    throw std::runtime_error(fmt::format("cannot make a socket for a worker: {}", std::strerror(errno)));
}

int AskedCalls::take_end() { return std::exchange(ends_[1], -1); }

void AskedCalls::started() {
  thread_ = std::thread([this] { decide_all(); });
}

AskedCalls::~AskedCalls() {
  if (thread_.joinable()) thread_.join();
  for (const int fd : ends_)
    if (fd >= 0) ::close(fd);
}

int AskedCalls::listener() const {
  if (!readable(ends_[0], over_)) return -1;
  int fd[1];
  char byte[1];
  receive_with(ends_[0], byte, fd, MSG_DONTWAIT);
  return fd[0];
}

void AskedCalls::decide_all() {
  const int calls = listener();
  ::close(std::exchange(ends_[0], -1));
  if (calls < 0) return;
  while (readable(calls, over_)) decide(calls);
  ::close(calls);
}

bool can_ask() {
  int domain = 0, type = 0;
  socklen_t size = sizeof domain;
  return ::getsockopt(kAskingSocket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX &&
         ::getsockopt(kAskingSocket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

bool give_listener(int listener) {
  const std::span<const int> descriptors(&listener, listener >= 0 ? 1 : 0);
  const bool given = send_with(kAskingSocket, "!", descriptors) == 1;
  if (listener >= 0) ::close(listener);
  ::close(kAskingSocket);
  return given;
}

}  // namespace assay
