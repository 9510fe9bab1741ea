// SPDX-License-Identifier: Apache-2.0
#include "validate/values/islands.hpp"

#include <algorithm>

namespace assay {

std::vector<std::int64_t> rows_in_memory(const Tensor& t) {
  const std::int64_t row = t.shape[static_cast<std::size_t>(t.rank - 1)];
  std::vector<std::int64_t> begins;
  for (std::int64_t i = 0; i < t.size(); i += row) begins.push_back(t.offset(i));
  std::sort(begins.begin(), begins.end());
  return begins;
}

std::vector<Island> islands(const Tensor& t, std::size_t bytes) {
  constexpr std::int64_t kApart = std::int64_t{1} << 31;  // bytes
  const std::int64_t element = size_of(t.dtype);
  const bool apart = t.rank > 1 && t.size() > 0 && t.stride[static_cast<std::size_t>(t.rank - 2)] * element > kApart;
  if (!apart) return {{0, bytes}};
  const auto row_bytes = static_cast<std::size_t>(t.shape[static_cast<std::size_t>(t.rank - 1)] * element);
  std::vector<Island> all;
  for (const std::int64_t at : rows_in_memory(t)) {
    const auto begin = static_cast<std::size_t>(at * element);
    all.push_back({begin < kShore ? 0 : begin - kShore, std::min(bytes, begin + row_bytes + kShore)});
  }
  return all;
}

std::size_t bytes_of(const std::vector<Island>& islands) {
  std::size_t n = 0;
  for (const Island& i : islands) n += i.bytes();
  return n;
}

}  // namespace assay
