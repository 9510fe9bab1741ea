// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "validate/problem/image.hpp"
#include "validate/worker/worker.hpp"

namespace assay {

namespace {

// The first number of a file such as /sys/fs/cgroup/memory.max; `otherwise` where there is none ("max", no such file).
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

std::string size_text(double bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit ? 1 : 0, units[unit]);
}

}  // namespace

std::size_t available_memory() {
  const std::size_t machine = free_of_machine();
  const std::size_t limit = number_in("/sys/fs/cgroup/memory.max", machine), used = number_in("/sys/fs/cgroup/memory.current", 0);
  return limit == machine ? machine : std::min(machine, limit > used ? limit - used : 0);
}

double memory_of(const Op& op, const Case& c) {
  double total = 0;
  const std::vector<Placement> placements = place(op, c);
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const double image = static_cast<double>(placements[i].bytes), maps = image / 4;
    const double golden = 2 * 8 * static_cast<double>(placements[i].tensor.size());  // its values, and as much for magnitudes
    const bool output = op.tensors[i].role == Role::output;
    total += 2 * image + maps;                     // in the worker
    total += output ? kRuns * image + golden : 0;  // in the judge
    total += is_given(op.tensors[i]) ? image : 0;
  }
  return total;
}

std::string too_large(const Op& op, const Case& c, std::size_t available) {
  const double needed = memory_of(op, c);
  if (needed <= static_cast<double>(available)) return {};
  return fmt::format("needs about {} of memory and {} are free here", size_text(needed),
                     size_text(static_cast<double>(available)));
}

}  // namespace assay
