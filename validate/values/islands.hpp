// SPDX-License-Identifier: Apache-2.0
// Islands: the parts of an image that are backed by memory.  Where rows lie more than 2^31 bytes apart, only the rows and the
// bytes next to them are made, written, read and compared.
#pragma once

#include <cstddef>
#include <vector>

#include "ops/core/tensor.hpp"

namespace assay {

inline constexpr std::size_t kShore = 4096;  // bytes before and after a row that belong to its island

// Bytes [begin, end) of an image.
struct Island {
  std::size_t begin, end;
  std::size_t bytes() const { return end - begin; }
};

// The islands of an image of that many bytes, from the first to the last: all of it unless rows lie that far apart.
std::vector<Island> islands(const Tensor& t, std::size_t bytes);
std::size_t bytes_of(const std::vector<Island>& islands);

// The offsets, in elements, at which the rows of a tensor begin, in the order in which they lie in memory.
std::vector<std::int64_t> rows_in_memory(const Tensor& t);

}  // namespace assay
