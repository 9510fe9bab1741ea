// SPDX-License-Identifier: Apache-2.0
#include "validate/base/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace assay {

namespace {

// The first number in a file such as /sys/fs/cgroup/memory.max; `otherwise` if it holds none ("max") or does not exist.
std::size_t number_in(const char* path, std::size_t otherwise) {
  std::size_t value = 0;
  return std::ifstream(path) >> value ? value : otherwise;
}

std::size_t free_of_machine() {
  std::ifstream info("/proc/meminfo");
  for (std::string key, rest; info >> key && std::getline(info, rest);)
    if (key == "MemAvailable:") return std::stoull(rest) * 1024;
  return static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

std::size_t available_memory() {
  const std::size_t machine = free_of_machine();
  const std::size_t limit = number_in("/sys/fs/cgroup/memory.max", machine), used = number_in("/sys/fs/cgroup/memory.current", 0);
  return limit == machine ? machine : std::min(machine, limit > used ? limit - used : 0);
}

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

}  // namespace assay
