// SPDX-License-Identifier: Apache-2.0
// A tensor that owns memory of the simulated machine, for tests that call kernels directly.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "ops/core/tensor.hpp"
#include "simt/machine.hpp"
#include "validate/values/random.hpp"

namespace assay::test {

struct Device {
  Tensor t;
  Device(DType dtype, std::vector<std::int64_t> shape) {
    t.dtype = dtype;
    t.rank = static_cast<int>(shape.size());
    std::copy(shape.begin(), shape.end(), t.shape.begin());
    std::int64_t stride = 1;
    for (int i = t.rank - 1; i >= 0; --i) {
      t.stride[i] = stride;
      stride *= t.shape[i];
    }
    t.data = simt::allocate(static_cast<std::size_t>(t.bytes()), 0, "tensor");
  }
  Device(const Device&) = delete;
  ~Device() { simt::release(t.data); }
  void fill(std::int64_t first, std::int64_t count, std::uint64_t key) {
    for (std::int64_t i = first; i < first + count; ++i) t.set(i, random::normal(key, static_cast<std::uint64_t>(i)));
  }
  void fill(std::uint64_t key) { fill(0, t.size(), key); }
  void set(const std::vector<std::int32_t>& values) {
    if (!values.empty()) std::memcpy(t.data, values.data(), values.size() * sizeof(std::int32_t));
  }
};

}  // namespace assay::test
