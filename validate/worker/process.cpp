// SPDX-License-Identifier: Apache-2.0
#include "validate/worker/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "validate/base/child.hpp"
#include "validate/base/stopwatch.hpp"

namespace assay {

std::vector<std::string> own_worker(std::string_view backend, const std::string& plugin) {
  std::vector<std::string> command{"/proc/self/exe", "worker", std::string(backend)};
  if (!plugin.empty()) command.push_back(plugin);
  return command;
}

WorkerProcess::WorkerProcess(const std::vector<std::string>& command) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error(fmt::format("cannot make a socket for a worker: {}", std::strerror(errno)));
  socket_ = ends[0];

  // Note: dup2 of a descriptor onto itself would leave close-on-exec set, so the worker's end is moved out of the way first.
  const int end = ends[1] == kWorkerSocket ? ::fcntl(ends[1], F_DUPFD_CLOEXEC, kWorkerSocket + 1) : ends[1];
  // What a kernel prints goes to stderr, since stdout may hold the records.
  const int error = start_child(pid_, command[0], {command.begin() + 1, command.end()},
                                {{end, kWorkerSocket}, {-1, STDIN_FILENO}, {STDERR_FILENO, STDOUT_FILENO}});
  if (end != ends[1]) ::close(end);
  ::close(ends[1]);
  if (error) {
    ::close(socket_);
    throw std::runtime_error(fmt::format("cannot start a worker: {}", std::strerror(error)));
  }
}

WorkerProcess::~WorkerProcess() {
  if (socket_ >= 0) ::close(socket_);
  end_child(pid_);
}

void WorkerProcess::send(const std::string& text) { ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }

void WorkerProcess::send(const std::string& text, const SharedMemory& inputs, const SharedMemory& outputs) {
  inputs.seal();  // the kernels of a case share them
  const int fds[2] = {inputs.fd(), outputs.fd()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)] = {};
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(head), fds, sizeof fds);
  // Other errors are ignored: receive() will find that the worker has died.
  while (::sendmsg(socket_, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

std::optional<std::string> WorkerProcess::receive_text() {
  std::string text(1 << 16, ' ');
  ssize_t n;
  // Note: ECONNRESET says, once, that the worker has ended and left a message unread; what it said before can still be read.
  while ((n = ::recv(socket_, text.data(), text.size(), 0)) < 0 && (errno == EINTR || errno == ECONNRESET)) {
  }
  if (n <= 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(n));
  return text;
}

std::optional<Reply> WorkerProcess::receive() {
  const std::optional<std::string> text = receive_text();
  if (!text) return std::nullopt;
  try {
    return reply_from(*text);
  } catch (const std::exception&) {
    bad_message_ = true;
    return std::nullopt;
  }
}

std::optional<std::string> WorkerProcess::receive_text(double timeout_s) {
  const Stopwatch waited;
  pollfd polled{socket_, POLLIN, 0};
  while (::poll(&polled, 1, static_cast<int>(std::clamp(timeout_s - waited.seconds(), 0.0, 1e6) * 1000)) <= 0)
    if (waited.seconds() >= timeout_s) throw std::runtime_error(fmt::format("no answer within {} s", timeout_s));
  return receive_text();
}

std::string WorkerProcess::closed() {
  ::shutdown(socket_, SHUT_RDWR);
  return cause_of_death();
}

Listing WorkerProcess::ask(std::size_t from, double timeout_s) {
  const std::int64_t id = static_cast<std::int64_t>(from) + 1;
  send(question(id, from));
  const std::optional<std::string> said = receive_text(timeout_s);
  if (!said) throw std::runtime_error(fmt::format("asked for its kernels, {}", cause_of_death()));
  try {
    return listing_from(*said, id);
  } catch (const std::exception& e) {
    throw std::runtime_error(fmt::format("asked for its kernels, it said something else: {}", said->substr(0, 80)));
  }
}

std::string WorkerProcess::cause_of_death() {
  int status = 0;
  pid_t ended = 0;
  // The socket closes shortly before the exit status is available.  Waits at most 10 s, since the worker may live on.
  for (int i = 0; i < 2000 && !bad_message_ && ended == 0; ++i) {
    ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == 0) ::usleep(5000);
  }
  if (ended != pid_) {
    end_child(pid_);
    return bad_message_ ? "something other than a reply was written to the worker's socket" : "the worker's socket was closed";
  }
  ::kill(-pid_, SIGKILL);
  pid_ = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kSocketLost) return "the worker's socket was closed";
  if (WIFEXITED(status)) return fmt::format("the worker process exited with code {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  if (signal == SIGKILL && killed_for_memory() > killed_for_memory_)
    return fmt::format("{}the system killed the worker for want of memory", kMachine);
  return fmt::format("the worker process was killed by signal {} ({})", signal, ::strsignal(signal));
}

}  // namespace assay
