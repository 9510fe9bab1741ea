// SPDX-License-Identifier: Apache-2.0
#include "validate/base/memory.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace assay {

namespace {

// The number after a key in a file of lines "KEY NUMBER"; 0 if there is none.
std::size_t figure_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::size_t value = 0;
  for (std::string word, rest; file >> word; std::getline(file, rest))
    if (word == key && file >> value) return value;
  return 0;
}

std::size_t free_of_machine(const std::string& root) {
  if (const std::size_t kib = figure_in(root + "/proc/meminfo", "MemAvailable:")) return kib * 1024;
  return static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

bool has_word(const std::string& list, std::string_view word) {
  std::istringstream words(list);
  for (std::string w; std::getline(words, w, ',');)
    if (w == word) return true;
  return false;
}

// A version of control groups: its name as a file system, and the names of its files.
struct Version {
  std::string_view system;
  const char *limit, *used, *cache;
};
constexpr Version kVersions[] = {{"cgroup2", "/memory.max", "/memory.current", "inactive_file"},
                                 {"cgroup", "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"}};

// The path of this process's group that limits memory, within its hierarchy.
std::optional<std::string> group_of(const std::string& root, const Version& version) {
  std::ifstream groups(root + "/proc/self/cgroup");  // "4:memory:/PATH", of version 2 "0::/PATH"
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version.system == "cgroup2" ? line.starts_with("0::") : has_word(controllers, "memory")) return line.substr(second + 1);
  }
  return std::nullopt;
}

// Where a hierarchy is mounted, and which of its groups is seen there.
struct Mount {
  std::string at, group;
};
std::optional<Mount> mount_of(const std::string& root, const Version& version) {
  std::ifstream mounts(root + "/proc/self/mountinfo");  // ID PARENT DEVICE GROUP AT OPTIONS ... - SYSTEM SOURCE OPTIONS
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream split(line);
    const std::vector<std::string> words(std::istream_iterator<std::string>(split), {});
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 5 || words.end() - dash < 4 || dash[1] != version.system) continue;
    if (version.system == "cgroup2" || has_word(dash[3], "memory")) return Mount{words[4], words[3]};
  }
  return std::nullopt;
}

// What the groups of a version leave this process, from its own to the outermost that it sees.
std::size_t left_by(const std::string& root, const Version& version) {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  const auto group = group_of(root, version);
  const auto mount = mount_of(root, version);
  if (!group || !mount) return least;
  std::string below = *group;
  if (mount->group != "/") below = (below + "/").starts_with(mount->group + "/") ? below.substr(mount->group.size()) : "";
  while (true) {
    const std::string folder = root + mount->at + (below == "/" ? "" : below);
    std::size_t limit = 0, used = 0;
    // Note: a file without a number says "max".
    if (std::ifstream(folder + version.limit) >> limit && std::ifstream(folder + version.used) >> used) {
      used -= std::min(used, figure_in(folder + "/memory.stat", version.cache));
      least = std::min(least, limit > used ? limit - used : 0);
    }
    if (below.empty() || below == "/") return least;
    below.erase(below.rfind('/'));
  }
}

}  // namespace

std::size_t available_memory(const std::string& root) {
  std::size_t least = free_of_machine(root);
  for (const Version& version : kVersions) least = std::min(least, left_by(root, version));
  return least;
}

void return_freed_memory() {
#if defined(M_MMAP_THRESHOLD)
  ::mallopt(M_MMAP_THRESHOLD, 4 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 8 << 20);
#endif
}

std::string size_text(double bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit ? 1 : 0, units[unit]);
}

void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose shadow memory exceeds any limit
  constexpr std::size_t kStacks = std::size_t{1} << 28;  // of a block's 1,024 threads on simt, of which little is touched
  const std::size_t most = available_memory() / 16 * 15 + kStacks;
  const rlimit limit{most, most};
  ::setrlimit(RLIMIT_DATA, &limit);
#endif
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);  // crashes are expected, so no core dumps
}

}  // namespace assay
