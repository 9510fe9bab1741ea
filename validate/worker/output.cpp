// SPDX-License-Identifier: Apache-2.0
#include "validate/worker/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace assay {

namespace {

constexpr std::size_t kMostOfWorker = std::size_t{1} << 20, kMostOfAll = std::size_t{16} << 20;  // bytes
std::atomic<std::size_t> passed_on{0};

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

// Replaces what a terminal would obey.  `last`: the byte before the text, since a read may end within a character.
void disarm(char* text, std::size_t n, unsigned char& last) {
  for (char* at = text; at < text + n; ++at) {
    const auto c = static_cast<unsigned char>(*at);
    const bool late = last == 0xc2 && c >= 0x80 && c < 0xa0;  // U+0080 to U+009F in UTF-8
    last = c;
    if (late || (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) *at = '?';
  }
}

}  // namespace

WorkerOutput::WorkerOutput(Begin begin) : holds_(begin == Begin::held) {
  const bool has_pipe = ::pipe2(ends_, O_CLOEXEC) == 0;
  if (has_pipe) over_ = ::eventfd(0, EFD_CLOEXEC);
  if (!has_pipe || over_ < 0) {
    const int error = errno;
    for (const int fd : ends_)
      if (fd >= 0) ::close(fd);
    throw std::runtime_error(fmt::format("cannot make a pipe for a worker's output: {}", std::strerror(error)));
  }
  ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
}

void WorkerOutput::started() {
  ::close(std::exchange(ends_[1], -1));
  thread_ = std::thread([this] { pass_on(); });
}

void WorkerOutput::ended() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(over_, &one, sizeof one);
}

std::string WorkerOutput::first_line() {
  ended();
  if (thread_.joinable()) thread_.join();
  const std::string text = std::exchange(held_, {});
  const std::size_t begin = std::min(text.find_first_not_of("\n\t "), text.size());
  return text.substr(begin, text.find('\n', begin) - begin);
}

void WorkerOutput::print(std::string_view text) {
  if (holds_) held_ += text;
  else write_all(text);
}

WorkerOutput::~WorkerOutput() {
  ended();
  if (thread_.joinable()) thread_.join();
  write_all(held_);
  for (const int fd : {ends_[0], ends_[1], over_})
    if (fd >= 0) ::close(fd);
}

void WorkerOutput::pass_on() {
  char buffer[1 << 14];
  std::size_t seen = 0;
  unsigned char last = 0;
  bool told = false, over = false;
  while (true) {
    const ssize_t n = ::read(ends_[0], buffer, sizeof buffer);
    if (n > 0) {
      const auto got = static_cast<std::size_t>(n);
      const bool room = (seen += got) <= kMostOfWorker && (passed_on += got) <= kMostOfAll;
      if (room) {
        disarm(buffer, got, last);
        print({buffer, got});
      } else if (!std::exchange(told, true)) print("\nvalidate: this worker prints too much; the rest is left out\n");
      if (!room && over) return;
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 || over || errno != EAGAIN) return;
    pollfd polled[2] = {{ends_[0], POLLIN, 0}, {over_, POLLIN, 0}};
    ::poll(polled, 2, -1);
    over = polled[1].revents != 0;
  }
}

}  // namespace assay
