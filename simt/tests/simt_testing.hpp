// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the simulated machine: an owned allocation, options that are reset, the finding of a launch.
#pragma once

#include <cstddef>
#include <string>

#include "catch_shim.hpp"
#include "device.hpp"
#include "machine.hpp"

namespace simt::testing {

using simt::Configured;

inline constexpr double kHang_s = 300;  // time limit, longer than any launch that ends
inline constexpr ThreadOrder kOrders[] = {ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::shuffle};

template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t n, std::string_view name = "buffer", std::size_t offset = 0)
      : p_(static_cast<T*>(allocate(n * sizeof(T), offset, name))), n_(n) {
    for (std::size_t i = 0; i < n; ++i) p_[i] = T{};
    mark_written(p_, n * sizeof(T));
  }
  ~Buffer() { release(p_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() const { return p_; }
  T& operator[](std::size_t i) const { return p_[i]; }
  std::size_t size() const { return n_; }
  Counts counts() const { return simt::counts(p_); }

 private:
  T* p_;
  std::size_t n_;
};

// Returns the finding that launching() throws, or one of kind "none".
template <class F>
Finding finding_of(F&& launching) {
  try {
    launching();
  } catch (const Fault& fault) {
    return fault.finding();
  }
  return {"none", "", "", 0};
}

inline bool says(const Finding& f, std::string_view text) { return f.message.find(text) != std::string::npos; }

// Launches one block.
template <class Kernel, class... Args>
void run_block(Kernel kernel, unsigned threads, Args... args) {
  device::launch(kernel, {.grid = device::dim3(1), .block = device::dim3(threads)}, nullptr, args...);
}

}  // namespace simt::testing
