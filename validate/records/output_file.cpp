// SPDX-License-Identifier: Apache-2.0
#include "validate/records/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "validate/base/error.hpp"
#include "validate/base/exit.hpp"

namespace assay {

namespace {

[[noreturn]] void cannot_write(const std::string& path, int error) {
  throw BadInput(fmt::format("cannot write '{}': {}", path, std::strerror(error)));
}

// Blocks all signals in this thread while it lives.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

int records_fd = -1;  // a copy of standard output, once records are written there

bool is_special(const std::string& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
}

// Opens a file for writing and keeps what it holds.  Note: without O_NONBLOCK a pipe that nobody reads would block.
int open_kept(const std::string& path, bool& made_here) {
  const int how = O_WRONLY | O_CLOEXEC | O_NONBLOCK;
  int fd = ::open(path.c_str(), how | O_CREAT | O_EXCL, 0644);
  made_here = fd >= 0;
  if (fd < 0 && errno == EEXIST) fd = ::open(path.c_str(), how);
  if (fd < 0 && errno == ENOENT) fd = ::open(path.c_str(), how | O_CREAT, 0644);  // a link to a file that does not exist
  if (fd < 0 && errno == ENXIO) throw BadInput(fmt::format("cannot write '{}': it is a pipe that nobody reads", path));
  if (fd < 0) cannot_write(path, errno);
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

// A file of the same folder that did not exist, with a name that nobody can foresee, so that no link can lie there.
int open_temporary(const std::string& path, std::string& name) {
  for (int tries = 0; tries < 100; ++tries) {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) cannot_write(path, errno);
    name = fmt::format("{}.{:016x}.part", path, number);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd >= 0) return fd;
    if (errno != EEXIST) break;
  }
  cannot_write(path, errno);
}

// Whether this process is now the file's only writer.  Where a file system has no locks, nothing is refused.
bool locked(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

bool still_named(int fd, const std::string& path) {
  struct stat opened {
  }, named{};
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

// Waits until a pipe takes a few bytes.  A reader that takes nothing must not keep a run from ending.
void wait_for_reader(int fd, const std::string& path) {
  pollfd output{fd, POLLOUT, 0};
  while (::poll(&output, 1, 200) <= 0)
    if (stop_requested) throw BadInput(fmt::format("cannot write '{}': its reader takes nothing", path));
}

// Writes a text; returns 0 or the error.
int write_all(int fd, std::string_view text, bool regular, const std::string& path) {
  constexpr std::size_t kTaken = 4096;  // bytes that a pipe takes at once if it takes any
  for (std::size_t done = 0; done < text.size();) {
    if (!regular) wait_for_reader(fd, path);
    const std::size_t left = text.size() - done;
    const ssize_t n = ::write(fd, text.data() + done, regular ? left : std::min(left, kTaken));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    done += static_cast<std::size_t>(n);
  }
  return 0;
}

}  // namespace

void give_stdout_to_records() {
  if (records_fd >= 0) return;
  std::fflush(stdout);
  records_fd = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (records_fd < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) cannot_write("standard output", errno);
}

JsonLines::JsonLines(const std::string& path) : path_(path) {
  if (path == kStdout) {
    fd_ = ::fcntl(records_fd, F_DUPFD_CLOEXEC, 0);
    if (fd_ < 0) cannot_write(path, errno);
    begun_ = true;  // `--json - >>FILE` appends
    return;
  }
  while (true) {
    fd_ = open_kept(path, made_here_);
    struct stat s {};
    regular_ = ::fstat(fd_, &s) == 0 && S_ISREG(s.st_mode);
    if (!regular_) return;
    if (!locked(fd_)) {
      ::close(fd_);
      throw BadInput(fmt::format("'{}' is being written by another run", path));
    }
    if (still_named(fd_, path)) return;
    ::close(fd_);  // another run has replaced or removed it since
  }
}

JsonLines::~JsonLines() {
  if (fd_ < 0) return;
  if (made_here_ && !begun_) ::unlink(path_.c_str());
  ::close(fd_);
}

void JsonLines::write(const std::string& line) {
  if (regular_ && !begun_ && ::ftruncate(fd_, 0) != 0) cannot_write(path_, errno);
  begun_ = true;
  put(line + "\n");
}

void JsonLines::put(const std::string& text) {
  if (const int error = write_all(fd_, text, regular_, path_)) {
    if (error == EPIPE) throw std::system_error(error, std::generic_category(), path_);  // the reader closed the pipe
    if (regular_) [[maybe_unused]]
      const int cut = ::ftruncate(fd_, whole_);
    cannot_write(path_, error);
  }
  whole_ += static_cast<std::int64_t>(text.size());
}

void JsonLines::replace(const std::vector<std::string>& lines) {
  if (!regular_) throw BadInput(fmt::format("'{}' is no file, so that nothing can be added to it", path_));
  const std::string target = std::filesystem::weakly_canonical(path_);  // of a link, what it names
  std::string text, name;
  for (const std::string& line : lines) text += line + "\n";
  const SignalsHeld until_renamed;
  const int fd = open_temporary(target, name);
  int error = locked(fd) ? write_all(fd, text, true, path_) : EWOULDBLOCK;
  if (!error && std::rename(name.c_str(), target.c_str()) != 0) error = errno;
  if (error) {
    ::unlink(name.c_str());
    ::close(fd);
    cannot_write(path_, error);
  }
  ::close(std::exchange(fd_, fd));
  begun_ = true;
  whole_ = static_cast<std::int64_t>(text.size());
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (a == b || std::filesystem::equivalent(a, b, error)) return true;
  if (a == kStdout || b == kStdout) return false;
  std::error_code of_a, of_b;
  const auto one = std::filesystem::weakly_canonical(std::filesystem::absolute(a), of_a),
             other = std::filesystem::weakly_canonical(std::filesystem::absolute(b), of_b);
  return !of_a && !of_b && one == other;
}

void write_whole(const std::string& path, const std::string& text) {
  // Note: a rename cannot replace a device or a pipe (--junit /dev/stdout), so these are written in place.
  if (is_special(path)) return JsonLines(path).write(text);
  const std::string_view pieces[] = {text, "\n"};
  write_whole(path, pieces);
}

void write_whole(const std::string& path, std::span<const std::string_view> pieces) {
  if (is_special(path)) throw BadInput(fmt::format("cannot write '{}': it is no file", path));
  const SignalsHeld until_renamed;  // else a signal would leave the temporary file
  std::string name;
  const int fd = open_temporary(path, name);
  int error = 0;
  for (const std::string_view piece : pieces)
    if (!error) error = write_all(fd, piece, true, path);
  if (::close(fd) != 0 && !error) error = errno;
  if (!error && std::rename(name.c_str(), path.c_str()) != 0) error = errno;
  if (error) {
    ::unlink(name.c_str());
    cannot_write(path, error);
  }
}

void require_writable(const std::string& path) {
  if (path == kStdout && records_fd >= 0) return;
  if (::access(path.c_str(), F_OK) == 0) {
    bool made_here = false;
    ::close(open_kept(path, made_here));
    return;
  }
  std::string name;
  ::close(open_temporary(path, name));
  ::unlink(name.c_str());
}

}  // namespace assay
