// SPDX-License-Identifier: Apache-2.0
// The interface of a machine that runs kernels.  simt and CUDA implement it (validate/backends).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/kernel.hpp"
#include "validate/values/islands.hpp"
#include "validate/worker/traffic.hpp"

namespace assay {

// The machine reports that a kernel did something forbidden.  `kind` is one of simt/machine.hpp, such as "out_of_bounds".
struct BackendFinding : std::runtime_error {
  BackendFinding(std::string what_kind, const std::string& message) : std::runtime_error(message), kind(std::move(what_kind)) {}
  std::string kind;
};

// The machine does not run what the kernel asks for, such as one of its instructions.  The case is skipped.
struct CannotRun : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What differs between runs of one problem.  The results must not differ.
struct RunOptions {
  int order = 0;           // of threads on simt: 0 forward, 1 reverse, 2 shuffled; on cuda, not 0 means a second stream
  std::uint64_t seed = 0;  // for the shuffled order
  bool sectors = false;    // count 32-byte sectors (simt)
  bool watch = false;      // report races and uninitialised reads (simt)
};

// One of several launches that follow each other, with what the launcher gets.
struct BoundLaunch {
  Launcher launcher = nullptr;
  const void* args = nullptr;
  void* workspace = nullptr;
  bool after = false;  // as Launch::after
};

// Launches to be run again and again; what they were given must stay where it is.
class Replay {
 public:
  virtual ~Replay() = default;
  virtual void run(int times) = 0;  // all of them, in order, so many times; waits for the last
};

class Clock;  // clock.hpp

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;

  // Device memory that starts `offset` bytes after a 256-byte boundary, to be freed by release().  Throws if memory runs out.
  virtual void* allocate(std::size_t bytes, std::size_t offset, std::string_view label) = 0;
  // The same for memory of which only these islands are used.  A machine may leave the rest without memory, where an access is a
  // finding.
  virtual void* allocate_apart(std::size_t bytes, std::size_t offset, std::string_view label, const std::vector<Island>&) {
    return allocate(bytes, offset, label);
  }
  // Bytes of device memory that are free; empty: memory that is not used costs nothing.
  virtual std::optional<std::size_t> memory_free() { return std::nullopt; }
  virtual void release(void* p) noexcept = 0;
  // Whether the machine itself detects every access outside an allocation; if not, GuardedBuffer adds guard bytes.
  virtual bool checks_bounds() const = 0;
  virtual void write(void* device, const void* host, std::size_t bytes) = 0;
  virtual void read(void* host, const void* device, std::size_t bytes) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes) {  // within the device
    std::vector<std::byte> all(bytes);
    read(all.data(), from, bytes);
    write(to, all.data(), bytes);
  }
  // Fills memory with garbage.  With `watch`, a kernel that reads it before writing it causes a finding.
  virtual void fill(void* device, std::byte garbage, std::size_t bytes) {
    const std::vector<std::byte> all(bytes, garbage);
    write(device, all.data(), bytes);
  }
  // Whether the last run wrote to an allocation; false if the machine does not track that.
  virtual bool written(const void* /*allocation*/) const { return false; }
  // Index of the first byte that the last run did not write; `bytes` if it wrote all of them or the machine does not track that.
  virtual std::size_t first_unwritten(const void* /*device*/, std::size_t bytes) const { return bytes; }

  // Runs a launcher and waits for its kernels.  Throws BackendFinding on a finding, std::runtime_error if the launch fails.
  virtual void run(Launcher launcher, const void* args, void* workspace, const RunOptions& v) = 0;
  // Captures the launcher in a CUDA graph, calls `between`, replays the graph and waits.  Returns false if the machine cannot
  // capture.
  virtual bool run_captured(Launcher, const void* /*args*/, void* /*workspace*/, const std::function<void()>& /*between*/) {
    return false;
  }
  // `as_graph`: as one CUDA graph; each kernel must have run before.  Null: the machine records nothing.
  virtual std::unique_ptr<Replay> record(std::vector<BoundLaunch>, bool /*as_graph*/) { return nullptr; }
  virtual Launcher launcher(const struct Kernel& k) const = 0;  // null: the kernel is not built for this machine
  virtual int arch() const = 0;                                 // 90 for sm_90; simt: the architecture that it simulates

  virtual Traffic traffic(const void* /*allocation*/) const { return {}; }  // of the last run
  virtual std::vector<SiteTraffic> sites() const { return {}; }             // of the last run, if it counted sectors

  // Called after an order, once its memory is released and before the reply: waits for what the kernel left running.
  virtual void settle() {}
  virtual std::size_t memory_in_use() { return 0; }  // bytes, of the whole device; 0: unknown
  virtual Clock* clock() { return nullptr; }         // null: the machine cannot time kernels
};

}  // namespace assay
