// SPDX-License-Identifier: Apache-2.0
// What times kernels on a machine, and counts what they move and take.  CUDA implements it (validate/backends).
#pragma once

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "validate/worker/backend.hpp"

namespace assay {

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

class Clock {
 public:
  virtual ~Clock() = default;

  // Seconds of the host's clock, by which a launch is estimated before the device's own clock times it.
  virtual double now_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  // Microseconds of each launch, by the device's clock, the kernels taking turns so that they meet the same machine; the
  // L2 cache is flushed before each.  About `seconds` long, at least 30 and at most 1000 launches of each.
  virtual std::vector<std::vector<double>> time_us(const std::vector<TimedLaunch>&, double seconds) = 0;
  // Microseconds a launch in steady state: the same problem again and again, its data where the caches keep it.  `about_us`: a
  // launch of each, roughly.
  virtual std::vector<SteadyTimes> steady_us(const std::vector<TimedLaunch>& kernels, const std::vector<double>& /*about_us*/) {
    return std::vector<SteadyTimes>(kernels.size());
  }
  // The functions of one launch, in order; those that a library launches are not seen.  `watched`: a profiler that waits for it
  // (ncu --profile-from-start off) sees this launch.
  virtual std::vector<LaunchedFunction> launched(const TimedLaunch&, bool /*watched*/) { return {}; }
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
  virtual std::string bus_id() const { return std::string(); }  // "00000000:3B:00.0"
  // Bytes per second, read and written together, of a copy within device memory that is far larger than any cache.
  virtual double copy_rate() { throw std::runtime_error("this backend is no clock"); }
  // Operations per second of a large matrix product of that dtype by the vendor's library; 0 where there is no such library.
  virtual double matrix_rate(DType) { return 0; }
};

// Throws std::runtime_error where the backend has none.
inline Clock& clock_of(Backend& backend) {
  if (Clock* clock = backend.clock()) return *clock;
  throw std::runtime_error(std::string(backend.name()) + " is no clock");
}

}  // namespace assay
