// SPDX-License-Identifier: Apache-2.0
// The interface that times kernels on a device and reads its counters, for `bench`.  CUDA implements it (validate/backends).
#pragma once

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "validate/worker/backend.hpp"

namespace assay {

// A kernel to time.  `args` hold the same problem at several addresses, which launches use in turn.
struct TimedLaunch {
  Launcher launcher = nullptr;
  std::vector<const void*> args;
  void* workspace = nullptr;
};

// A copy of `bytes` bytes within device memory: the arguments of Clock::copier().
struct DeviceCopy {
  void *from = nullptr, *to = nullptr;
  std::size_t bytes = 0;
};

struct SteadyTimes {
  std::vector<double> us;  // samples of the time per launch, each a mean over `launches`; empty: the backend cannot measure it
  int launches = 0;
  bool graph = false;  // the launches were replayed from a CUDA graph
};

// A CUDA function that a launcher launched, and the resources that it needs.
struct LaunchedFunction {
  std::string name;  // demangled and shortened
  int registers = 0;
  std::size_t static_shared = 0, dynamic_shared = 0;  // bytes per block
  std::size_t local_bytes = 0;                        // per thread: stack and spills
  int threads = 0;                                    // per block
  std::size_t blocks = 0;                             // in the grid
  int blocks_per_sm = 0;                              // that fit on a multiprocessor at once
  double occupancy = 0;                               // their threads over the most that a multiprocessor holds
};

// The rounds of a timing; each launches every kernel once.  Those of the first kWarmUp seconds are not counted.  Of the others
// there are 30 to 1000, for about `seconds`.  Note: a GPU that has rested is faster until its power limit lowers the clocks: on
// an H200, a launch of 2.2 ms takes 2.5 ms after about 20 of them.
class TimedRounds {
 public:
  static constexpr double kWarmUp = 0.1;
  explicit TimedRounds(double seconds) : seconds_(seconds) {}
  // Begins the next round, by a clock that shows `now_s`.  Returns false if there were enough.
  bool next(double now_s) {
    constexpr int kLeast = 30, kMost = 1000;
    if (++round_ == 0) warm_s_ = now_s + kWarmUp;
    if (now_s < warm_s_ && counted_ == 0) return true;
    if (counted_ == 0) end_s_ = now_s + seconds_;
    if (counted_ == kMost || (counted_ >= kLeast && now_s > end_s_)) return false;
    ++counted_;
    return true;
  }
  int round() const { return round_; }  // its number, from 0 on
  bool counts() const { return counted_ > 0; }

 private:
  double seconds_, warm_s_ = 0, end_s_ = 0;
  int round_ = -1, counted_ = 0;
};

// The L2 cache before a timed launch.  flushed: it holds lines of a large write, some still to be written back while the launch
// runs.  clean: they have been written back, by a large read.
enum class L2 { flushed, clean };

class Clock {
 public:
  virtual ~Clock() = default;

  // Seconds on the host's clock, for a first estimate of a launch's time.
  virtual double now_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  // Microseconds of each launch of each kernel, by the device's clock, none of its data in the L2 cache.  Kernels take turns, so
  // that a change of the device's speed affects all of them; TimedRounds says for how long.
  virtual std::vector<std::vector<double>> time_us(const std::vector<TimedLaunch>&, double seconds, L2) = 0;
  // Microseconds per launch in steady state: the same problem launched again and again, with warm caches.  `about_us`: rough time
  // of one launch of each kernel.
  virtual std::vector<SteadyTimes> steady_us(const std::vector<TimedLaunch>& kernels, const std::vector<double>& /*about_us*/) {
    return std::vector<SteadyTimes>(kernels.size());
  }
  // The CUDA functions of one launch, in order, except those that a library launches.  `watched`: shows this launch to a profiler
  // that waits for it (ncu --profile-from-start off).
  virtual std::vector<LaunchedFunction> launched(const TimedLaunch&, bool /*watched*/) { return {}; }
  // Bytes of device memory that one launch of each kernel reads and writes, by hardware counters.  The cache is flushed before
  // and after it, so that all its writes reach memory.  `about_s`: rough time of one launch of each kernel, in seconds.  Throws
  // std::runtime_error with the reason if the device has no such counters or does not let us read them.
  virtual std::vector<DramBytes> dram_bytes(const std::vector<TimedLaunch>&, const std::vector<double>& /*about_s*/) {
    throw std::runtime_error("this backend has no counters");
  }
  // The same for a copy of `bytes` within device memory.  Its traffic is known, so it checks the counters.
  virtual DramBytes copy_dram_bytes(std::size_t /*bytes*/) { throw std::runtime_error("this backend has no counters"); }
  // Launches a DeviceCopy, so that a copy can be timed among kernels.
  virtual Launcher copier() const { throw std::runtime_error("this backend is no clock"); }
  // Theoretical peaks by the device's attributes, in bytes and operations per second; 0: unknown.
  virtual double peak_bytes_rate() const { return 0; }
  virtual double peak_flops_rate(DType) const { return 0; }
  virtual std::string bus_id() const { return std::string(); }  // "00000000:3B:00.0"
  // Bytes per second, read and written together, of a copy within device memory that is far larger than any cache.
  virtual double copy_rate() { throw std::runtime_error("this backend is no clock"); }
  // Operations per second of a large matrix product in that dtype by the vendor's library; 0 if the library is missing.
  virtual double matrix_rate(DType) { return 0; }
};

// Throws std::runtime_error if the backend has no clock.
inline Clock& clock_of(Backend& backend) {
  if (Clock* clock = backend.clock()) return *clock;
  throw std::runtime_error(std::string(backend.name()) + " is no clock");
}

}  // namespace assay
