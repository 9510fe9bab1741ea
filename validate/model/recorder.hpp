// SPDX-License-Identifier: Apache-2.0
// A pass of steps as launches that run again and again, each kind of steps by the kernel of ours that is the fastest there.
#pragma once

#include <fmt/format.h>

#include "validate/base/error.hpp"
#include "validate/model/apart.hpp"
#include "validate/model/machine.hpp"

namespace assay {

// Memory of a backend.
class DeviceMemory {
 public:
  explicit DeviceMemory(Backend& backend) : backend_(backend) {}
  ~DeviceMemory() { free(); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  // At least so many bytes; null: none were ever asked for.  What lay there is lost when it grows.
  void* of(std::size_t bytes) {
    if (bytes > size_) free(), data_ = backend_.allocate(bytes, 0, "workspace"), size_ = bytes;
    return data_;
  }

 private:
  void free() {
    if (data_) backend_.release(data_);
    data_ = nullptr, size_ = 0;
  }
  Backend& backend_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// Does work that a kernel may break, and says where it did.
template <class Work>
auto guarded(const std::string& where, const Work& work) {
  now_at(where);
  try {
    return work();
  } catch (const NoMemory&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw StepFault(fmt::format("{}: {}", where, e.what()));
  }
}

// The steps have run once.  `choose` gets `next` behind them.  `times` gets what was measured of each kind of steps.
std::unique_ptr<Replay> recorded(Backend&, const Clock&, const KernelChoice&, const std::vector<PlacedStep>& steps,
                                 const NextTokens& next, Launcher choose, bool as_graph, std::vector<StepTime>& times);

}  // namespace assay
