// SPDX-License-Identifier: Apache-2.0
// A machine that kernels run on.  A worker drives it; simt and CUDA implement it (validate/backends).
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
#include "validate/worker/traffic.hpp"

namespace assay {

// What a watched machine reports: a kernel did what no kernel may do.
struct BackendFinding : std::runtime_error {
  BackendFinding(std::string what_kind, const std::string& message) : std::runtime_error(message), kind(std::move(what_kind)) {}
  std::string kind;
};

// How one of several runs of the same problem differs from the others, when its result must not.
struct Variation {
  int order = 0;           // 0 forward, 1 reverse, 2 shuffled (simt); a second stream (cuda) when not 0
  std::uint64_t seed = 0;  // of a shuffled order
  bool sectors = false;    // count sectors too
  bool watch = false;      // races and uninitialised reads are findings (simt)
};

class Clock;  // clock.hpp

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

  virtual std::size_t memory_in_use() { return 0; }  // of the whole device; 0: unknown
  virtual Clock* clock() { return nullptr; }         // what times it; null: nothing does
};

}  // namespace assay
