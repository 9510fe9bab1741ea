// SPDX-License-Identifier: Apache-2.0
#include "validate/model/apart.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "validate/base/exit.hpp"

namespace assay {

namespace {

constexpr std::size_t kMostText = 4096;
char* shared = nullptr;  // what the child does, in memory that it shares with its parent

}  // namespace

int run_apart(const std::function<int()>& work) {
  void* const memory = ::mmap(nullptr, kMostText, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error(fmt::format("no memory for a process: {}", std::strerror(errno)));
  shared = static_cast<char*>(memory);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error(fmt::format("no process can be started: {}", std::strerror(errno)));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int number : {SIGSEGV, SIGABRT}) std::signal(number, SIG_DFL);
    return work();
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error(fmt::format("the process of the model is lost: {}", std::strerror(errno)));
    if (stop_requested) ::kill(child, SIGTERM);
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  fmt::print("  crashed      {}: {}\nwrong\n", shared, ::strsignal(WTERMSIG(status)));
  return kVerdictFailed;
}

void now_at(std::string_view what) {
  if (stop_requested) throw Interrupted();
  if (!shared) return;
  const std::size_t n = std::min(what.size(), kMostText - 1);
  std::memcpy(shared, what.data(), n);
  shared[n] = 0;
}

}  // namespace assay
