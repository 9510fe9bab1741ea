// SPDX-License-Identifier: Apache-2.0
// A machine that kernels run on.  The judge's worker drives it; simt and CUDA implement it (validate/backends).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/kernel.hpp"

namespace assay {

// What a watched machine reports: a kernel did what no kernel may do.
struct BackendFinding : std::runtime_error {
  BackendFinding(std::string what_kind, const std::string& message) : std::runtime_error(message), kind(std::move(what_kind)) {}
  std::string kind;
};

// Traffic of one buffer, counted; all zero where the backend cannot count.
struct Traffic {
  std::uint64_t read_bytes = 0, written_bytes = 0;                // as requested
  std::uint64_t unique_read_bytes = 0, unique_written_bytes = 0;  // each byte once
  std::uint64_t read_sectors = 0, written_sectors = 0;            // 32-byte sectors of each warp-wide request
};

// What one line of a kernel moved of one buffer, or of shared memory.
struct SiteTraffic {
  std::string place;   // "cuda/OP/KERNEL.cu:12"
  std::string buffer;  // its label; "shared memory"
  bool write = false;
  std::uint64_t bytes = 0, requests = 0;  // a request: of a whole warp
  std::uint64_t sectors = 0;              // of global memory
  std::uint64_t wavefronts = 0;           // of shared memory: 1 for each 128 bytes of a request where no two lanes want one bank
};

// How one of several runs of the same problem differs from the others, when its result must not.
struct Variation {
  int order = 0;           // 0 forward, 1 reverse, 2 shuffled (simt); a second stream (cuda) when not 0
  std::uint64_t seed = 0;  // of a shuffled order
  bool sectors = false;    // count sectors too
  bool watch = false;      // races and uninitialised reads are findings (simt)
};

// A kernel to be timed: the same problem at several places in memory, taken in turn.
struct TimedLaunch {
  Launcher launcher = nullptr;
  std::vector<const void*> args;
  void* workspace = nullptr;
};

struct SteadyTimes {
  std::vector<double> us;  // of a launch, each the mean of so many; empty: the backend has no such clock
  int launches = 0;
  bool graph = false;  // they were captured and replayed
};

// A function of the device that a launcher launched, and what it takes of a multiprocessor.
struct LaunchedFunction {
  std::string name;  // readable and short
  int registers = 0;
  std::size_t static_shared = 0, dynamic_shared = 0;  // bytes of a block
  std::size_t local_bytes = 0;                        // of a thread: stack and spills
  int threads = 0;                                    // of a block
  std::size_t blocks = 0;                             // of the grid
  int blocks_per_sm = 0;                              // that fit at once
  double occupancy = 0;                               // the share of a multiprocessor's threads that they are
};

// A function of the device, as one launch had it, be it ours or a library's; "memset" is the driver's.
struct CalledFunction {
  std::string name;        // short, as LaunchedFunction has it
  std::size_t blocks = 0;  // of the grid; of a memset 0
  bool operator==(const CalledFunction&) const = default;
};

// Bytes between device memory and the last cache before it.
struct DramBytes {
  double read = 0, written = 0;
  double sum() const { return read + written; }
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;

  // Device memory that starts `offset` bytes after a 256-byte boundary.  Owned by the backend until release().
  virtual void* allocate(std::size_t bytes, std::size_t offset, std::string_view label) = 0;
  virtual void release(void* p) noexcept = 0;
  // Whether an access just outside an allocation is caught by the machine itself; else the judge adds guard bytes.
  virtual bool checks_bounds() const = 0;
  virtual void write(void* device, const void* host, std::size_t bytes) = 0;
  virtual void read(void* host, const void* device, std::size_t bytes) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes) {  // within the device
    std::vector<std::byte> all(bytes);
    read(all.data(), from, bytes), write(to, all.data(), bytes);
  }
  // Garbage, which a kernel may not read before it wrote there.
  virtual void fill(void* device, std::byte garbage, std::size_t bytes) {
    const std::vector<std::byte> all(bytes, garbage);
    write(device, all.data(), bytes);
  }
  // The first of these bytes that the last run did not write; `bytes` where each was written, or nobody knows.
  virtual std::size_t first_unwritten(const void* /*device*/, std::size_t bytes) const { return bytes; }

  // Runs a launcher to its end.  Throws BackendFinding when the machine objects, std::runtime_error when it fails.
  virtual void run(Launcher launcher, const void* args, void* workspace, const Variation& v) = 0;
  // Captures the launcher, calls `between`, then replays what was captured; false where there is no such thing.
  virtual bool run_captured(Launcher, const void* /*args*/, void* /*workspace*/, const std::function<void()>& /*between*/) {
    return false;
  }
  virtual Launcher launcher(const struct Kernel& k) const = 0;
  virtual int arch() const = 0;  // sm_ number; simt: what it simulates

  virtual Traffic traffic(const void* /*allocation*/) const { return {}; }
  virtual std::vector<SiteTraffic> sites() const { return {}; }  // of the last run, with sectors

  // Microseconds of each launch, by the device's clock, the kernels taking turns so that they meet the same machine; the
  // L2 cache is flushed before each, after `rest_s` seconds without work.  About `seconds` long, at least 30 and at most 1000
  // launches of each.
  virtual std::vector<std::vector<double>> time_us(const std::vector<TimedLaunch>&, double /*seconds*/, double /*rest_s*/) {
    throw std::runtime_error("this backend is no clock");
  }
  // Microseconds a launch in steady state: the same problem again and again, its data where the caches keep it.  `about_us`: a
  // launch of each, roughly.
  virtual std::vector<SteadyTimes> steady_us(const std::vector<TimedLaunch>& kernels, const std::vector<double>& /*about_us*/) {
    return std::vector<SteadyTimes>(kernels.size());
  }
  // The functions of one launch, in order; those that a library launches are not seen.  `watched`: a profiler that waits for it
  // (ncu --profile-from-start off) sees this launch.
  virtual std::vector<LaunchedFunction> launched(const TimedLaunch&, bool /*watched*/) { return {}; }
  // All functions of one launch, in order, a library's too.  Throws std::runtime_error with the reason where nobody can tell.
  virtual std::vector<CalledFunction> traced(const TimedLaunch&) { throw std::runtime_error("this backend traces nothing"); }
  // What one launch of each moves, by the device's own counters, from a cache that holds nothing of it until all that it wrote is
  // in memory.  `about_s`: how long a launch of each takes, roughly.  Throws std::runtime_error with the reason where there are
  // no such counters, or none for us.
  virtual std::vector<DramBytes> dram_bytes(const std::vector<TimedLaunch>&, const std::vector<double>& /*about_s*/) {
    throw std::runtime_error("this backend has no counters");
  }
  // The same of a copy of so many bytes within device memory: what the counters are checked by.
  virtual DramBytes copy_dram_bytes(std::size_t /*bytes*/) { throw std::runtime_error("this backend has no counters"); }
  // What no kernel can exceed, by the device's own figures; 0: unknown.
  virtual double peak_bytes_rate() const { return 0; }
  virtual double peak_flops_rate(DType) const { return 0; }
  virtual std::size_t memory_in_use() { return 0; }             // of the whole device; 0: unknown
  virtual std::string bus_id() const { return std::string(); }  // "00000000:3B:00.0"
  // Bytes per second, read and written together, of a copy within device memory that is far larger than any cache.
  virtual double copy_rate() { throw std::runtime_error("this backend is no clock"); }
  // Operations per second of a large matrix product of that dtype by the vendor's library; 0 where there is no such library.
  virtual double matrix_rate(DType) { return 0; }
};

struct BackendInfo {
  std::string_view name;
  bool built = false;
  std::string unavailable;  // why it cannot be used here; empty: it can
  std::string device;
};

// The backends of this build, and whether this machine can use them.
std::vector<BackendInfo> backends();
// Throws std::runtime_error where the backend is not to be had.
std::unique_ptr<Backend> open_backend(std::string_view name);

}  // namespace assay
