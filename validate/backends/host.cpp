// SPDX-License-Identifier: Apache-2.0
// The backend of a plugin without a GPU: the processor itself, with host pointers.  Nothing watches single accesses, so races and
// reads of memory that nobody wrote stay unseen.
#include <dirent.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "validate/backends/backends.hpp"
#include "validate/base/error.hpp"
#include "validate/base/stopwatch.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

constexpr std::size_t kPage = 4096;

std::size_t rounded_up(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// The other threads of this process that run or wait for a processor.
std::vector<pid_t> running_threads() {
  std::vector<pid_t> all;
  DIR* tasks = ::opendir("/proc/self/task");
  if (!tasks) return all;
  while (const dirent* entry = ::readdir(tasks)) {
    const auto id = static_cast<pid_t>(std::atol(entry->d_name));
    if (id <= 0 || id == ::gettid()) continue;
    std::ifstream file(fmt::format("/proc/self/task/{}/stat", id));
    std::string stat;
    std::getline(file, stat);  // "ID (NAME) STATE ..."; the name may hold anything
    const std::size_t end = stat.rfind(')');
    if (end != stat.npos && end + 2 < stat.size() && stat[end + 2] == 'R') all.push_back(id);
  }
  ::closedir(tasks);
  return all;
}

// Seconds of processor time that a thread of this process has had; negative: it has ended.
double processor_seconds(pid_t id) {
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(id) << 3) | 6);  // as the kernel numbers threads' clocks
  timespec t{};
  return ::clock_gettime(clock, &t) == 0 ? static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec) : -1;
}

class HostBackend final : public Backend {
 public:
  std::string_view name() const override { return "host"; }
  void* allocate(std::size_t bytes, std::size_t offset, std::string_view label) override {
    return allocate_apart(bytes, offset, label, {{0, bytes}});
  }
  // Note: whole pages, so that memory between far islands costs nothing, and that none is used again after release().
  void* allocate_apart(std::size_t bytes, std::size_t offset, std::string_view label,
                       const std::vector<Island>& islands) override {
    Memory m{.bytes = rounded_up(offset + bytes + 1), .there = {}};
    void* base = ::mmap(nullptr, m.bytes, PROT_NONE, kAnonymous, -1, 0);
    if (base == MAP_FAILED) no_memory(bytes, label);
    auto* const first = static_cast<std::byte*>(base);
    for (const Island& i : islands) {
      const Island pages{(offset + i.begin) / kPage * kPage, rounded_up(offset + i.end + 1)};
      if (::mprotect(first + pages.begin, pages.bytes(), PROT_READ | PROT_WRITE) != 0) {
        ::munmap(base, m.bytes);
        no_memory(bytes, label);
      }
      m.there.push_back(pages);
    }
    memory_[first] = std::move(m);
    return first + offset;
  }
  // An access after this ends the process: the kernel returned and left something running.
  void release(void* p) noexcept override {
    const auto at = of(p);
    ::mmap(at->first, at->second.bytes, PROT_NONE, kAnonymous | MAP_FIXED, -1, 0);
    memory_.erase(at);
  }
  bool checks_bounds() const override { return false; }
  void write(void* device, const void* host, std::size_t bytes) override {
    if (bytes) std::memcpy(device, host, bytes);
  }
  void read(void* host, const void* device, std::size_t bytes) override {
    if (bytes) std::memcpy(host, device, bytes);
  }
  void fill(void* device, std::byte garbage, std::size_t bytes) override {
    const auto at = of(device);
    const auto begin = static_cast<std::size_t>(static_cast<std::byte*>(device) - at->first), end = begin + bytes;
    for (const Island& i : at->second.there)
      if (const std::size_t from = std::max(i.begin, begin), to = std::min(i.end, end); from < to)
        std::memset(at->first + from, std::to_integer<int>(garbage), to - from);
  }
  void run(Launcher launch_it, const void* args, void* workspace, const RunOptions&) override {
    launch_it(args, {.stream = nullptr, .workspace = workspace});
  }
  // A thread that goes on writing to an order's memory ends the process within its next few instructions.  So each thread that
  // runs gets a moment of the processor, however busy the machine is.
  void settle() override {
    constexpr double kMoment = 1e-3, kLongest = 10;
    const Stopwatch waited;
    std::map<pid_t, double> until;
    for (const pid_t id : running_threads()) until[id] = processor_seconds(id) + kMoment;
    while (!until.empty() && waited.seconds() < kLongest) {
      ::usleep(1000);
      const std::vector<pid_t> running = running_threads();
      std::erase_if(until, [&](const auto& thread) {
        return std::find(running.begin(), running.end(), thread.first) == running.end() ||
               !(processor_seconds(thread.first) < thread.second);
      });
    }
  }
  Launcher launcher(const Kernel& k) const override { return k.on_host; }
  int arch() const override { return 0; }

 private:
  struct Memory {
    std::size_t bytes;
    std::vector<Island> there;  // the pages that may be used, as offsets
  };
  static constexpr int kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

  [[noreturn]] static void no_memory(std::size_t bytes, std::string_view label) {
    throw NoMemory(fmt::format("needs {} MiB of memory for '{}', which are not free", bytes >> 20, label));
  }
  std::map<std::byte*, Memory>::iterator of(void* p) { return std::prev(memory_.upper_bound(static_cast<std::byte*>(p))); }

  std::map<std::byte*, Memory> memory_;  // by first byte
};

}  // namespace

std::string host_device() { return fmt::format("host ({} cores)", std::max(1u, std::thread::hardware_concurrency())); }

std::unique_ptr<Backend> open_host() { return std::make_unique<HostBackend>(); }

}  // namespace assay
