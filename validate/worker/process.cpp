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
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "validate/base/child.hpp"
#include "validate/base/descriptors.hpp"
#include "validate/base/error.hpp"
#include "validate/base/stopwatch.hpp"
#include "validate/worker/sandbox.hpp"

namespace assay {

std::vector<std::string> own_worker(std::string_view backend, const std::string& plugin) {
  std::vector<std::string> command{kOwnProgram, kServe, std::string(backend)};
  if (!plugin.empty()) command.push_back(plugin);
  return command;
}

namespace {

Confined profile_of(const std::vector<std::string>& command) {
  return is_own_worker(command) ? confined_on(command.at(2)) : Confined::program;
}

// The command that confines a program that is not ours, before it starts.
std::vector<std::string> confined(const std::vector<std::string>& command, std::string& folder) {
  if (is_own_worker(command)) return command;
  const char* where = std::getenv("TMPDIR");
  folder = fmt::format("{}/assay-XXXXXX", where && *where ? where : "/tmp");
  if (!::mkdtemp(folder.data())) folder.clear();
  std::vector<std::string> longer{kOwnProgram, "confined", folder};
  longer.insert(longer.end(), command.begin(), command.end());
  return longer;
}

// Moves a descriptor out of the way of those that a worker will have; -1 if it cannot.  Note: dup2 of a descriptor onto itself
// would leave close-on-exec set, and onto one that is still needed would lose it.
int set_apart(int fd) {
  constexpr int kFirst = std::max(kWorkerSocket, kAskingSocket) + 1;
  if (fd >= kFirst) return fd;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, kFirst), error = errno;
  ::close(fd);
  errno = error;
  return moved;
}

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& command, WorkerOutput::Begin begin) : output_(begin) {
  const bool in_sandbox = !sandbox_text(profile_of(command)).starts_with("off");
  if (in_sandbox) asked_.emplace(output_.over());
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error(fmt::format("cannot make a socket for a worker: {}", std::strerror(errno)));
  socket_ = ends[0];

  const std::vector<std::string> started = in_sandbox ? confined(command, folder_) : command;
  const int end = set_apart(ends[1]), asking = end >= 0 && asked_ ? set_apart(asked_->take_end()) : -1;
  int error = end < 0 || (asked_ && asking < 0) ? errno : 0;
  if (!error) {
    // What a kernel prints goes to stderr, since stdout may hold the records.
    std::vector<Descriptor> theirs{
        {-1, STDIN_FILENO}, {output_.end(), STDOUT_FILENO}, {output_.end(), STDERR_FILENO}, {end, kWorkerSocket}};
    if (asked_) theirs.push_back({asking, kAskingSocket});
    error = start_child(pid_, started[0], {started.begin() + 1, started.end()}, theirs, in_sandbox ? is_passed : nullptr);
  }
  for (const int fd : {end, asking})
    if (fd >= 0) ::close(fd);
  try {
    if (error) throw std::system_error(error, std::generic_category());
    output_.started();
    if (asked_) asked_->started();
  } catch (const std::system_error& e) {
    stop();
    throw std::runtime_error(fmt::format("cannot start a worker: {}", std::strerror(e.code().value())));
  } catch (...) {
    stop();
    throw;
  }
}

WorkerProcess::~WorkerProcess() { stop(); }

void WorkerProcess::stop() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  end_child(pid_);
  output_.ended();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

void WorkerProcess::lose(const char* what) {
  if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) return;  // the worker has died, which receive() will find
  lost_ = fmt::format("{}{}: {}", kMachine, what, std::strerror(errno));
  ::shutdown(socket_, SHUT_RDWR);
}

void WorkerProcess::send(const std::string& text) {
  while (::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) < 0)
    if (errno != EINTR) return lose("a question could not be sent to the worker");
}

void WorkerProcess::send(const std::string& text, const SharedMemory& inputs, const SharedMemory& outputs) {
  inputs.seal();  // the kernels of a case share them
  const int memories[] = {inputs.fd(), outputs.fd()};
  if (send_with(socket_, text, memories) < 0) lose("an order could not be sent to the worker");
}

std::optional<std::string> WorkerProcess::receive_text() {
  std::string text(1 << 16, ' ');
  ssize_t n;
  // Note: ECONNRESET says, once, that the worker has ended and left a message unread; what it said before can still be read.
  do {
    n = ::recv(socket_, text.data(), text.size(), 0);
  } while (n < 0 && (errno == EINTR || errno == ECONNRESET));
  if (n < 0) lose("the worker's reply could not be received");
  if (n <= 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(n));
  return text;
}

std::optional<Reply> WorkerProcess::receive() {
  const std::optional<std::string> text = receive_text();
  if (!text) return std::nullopt;
  try {
    return reply_from(*text);
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    lose("a reply could not be read");
    return std::nullopt;
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

std::string WorkerProcess::cause_of_death(double patience_s) {
  std::string how = how_it_ended(patience_s);
  return lost_.empty() ? how : lost_;
}

double WorkerProcess::waited_for_core_s() const {
  const int file = ::open(fmt::format("/proc/{}/schedstat", pid_).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128] = {};
  const ssize_t bytes = ::read(file, text, sizeof text - 1);
  ::close(file);
  long long ran_ns = 0, waited_ns = 0;
  return bytes > 0 && std::sscanf(text, "%lld %lld", &ran_ns, &waited_ns) == 2 ? 1e-9 * static_cast<double>(waited_ns) : 0;
}

std::string WorkerProcess::how_it_ended(double patience_s) {
  int status = 0;
  pid_t ended = 0;
  // The socket closes shortly before the exit status is available, or the worker lives on.
  for (const Stopwatch waited; !bad_message_ && lost_.empty() && ended == 0 && waited.seconds() < patience_s;) {
    ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == 0) ::usleep(5000);
  }
  if (ended != pid_) {
    end_child(pid_);
    return bad_message_ ? "something other than a reply was written to the worker's socket" : "the worker's socket was closed";
  }
  ended_child(pid_);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kMachineFailed)
    return fmt::format("{}the worker found no memory, could not be confined, or no order reached it", kMachine);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kSocketLost) return "the worker's socket was closed";
  if (WIFEXITED(status)) return fmt::format("the worker process exited with code {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  if (signal == SIGKILL && killed_for_memory() > killed_for_memory_)
    return fmt::format("{}the system killed the worker for want of memory", kMachine);
  return fmt::format("the worker process was killed by signal {} ({})", signal, ::strsignal(signal));
}

}  // namespace assay
