// SPDX-License-Identifier: Apache-2.0
#include "validate/values/tensor_bits.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include "validate/values/islands.hpp"
#include "validate/values/random.hpp"

namespace assay {

bool same_elements(const Tensor& a, const Tensor& b) {
  const std::int64_t n = a.size();
  const int bytes = size_of(a.dtype);
  if (a.contiguous() && b.contiguous() && std::memcmp(a.data, b.data, static_cast<std::size_t>(n * bytes)) == 0) return true;
  for (std::int64_t i = 0; i < n; ++i) {
    const char* pa = static_cast<const char*>(a.data) + a.offset(i) * bytes;
    const char* pb = static_cast<const char*>(b.data) + b.offset(i) * bytes;
    if (std::memcmp(pa, pb, static_cast<std::size_t>(bytes)) != 0 && !(std::isnan(a.at(i)) && std::isnan(b.at(i)))) return false;
  }
  return true;
}

std::uint64_t digest(const Tensor& t, std::uint64_t seed) {
  const std::int64_t n = t.size();
  const auto bytes = static_cast<std::size_t>(size_of(t.dtype));
  const bool contiguous = t.contiguous();
  // Bits of infinity, which those of a NaN exceed (sign aside); 0: test by decoding.
  const std::uint64_t infinite = t.dtype == f16 ? 0x7c00 : t.dtype == bf16 ? 0x7f80 : t.dtype == f32 ? 0x7f800000 : 0;
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
  std::uint64_t h = random::mix(seed + static_cast<std::uint64_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint64_t word = 0;
    const std::int64_t at = contiguous ? i : t.offset(i);
    std::memcpy(&word, static_cast<const std::byte*>(t.data) + static_cast<std::size_t>(at) * bytes, bytes);
    const bool nan = infinite ? (word & ~sign) > infinite : is_float(t.dtype) && std::isnan(decode(t.dtype, t.data, at));
    h = random::mix(((nan ? ~std::uint64_t{0} : word) ^ h) + random::kGamma);
  }
  return h;
}

bool gaps_intact(const Tensor& t, std::size_t bytes, std::byte garbage) {
  if (t.contiguous() || t.size() == 0) return true;
  const std::int64_t element = size_of(t.dtype);
  const auto row_bytes = static_cast<std::size_t>(t.shape[t.rank - 1] * element);
  const auto* image = static_cast<const std::byte*>(t.data);
  const std::vector<std::int64_t> rows = rows_in_memory(t);
  auto row = rows.begin();
  for (const Island& island : islands(t, bytes)) {
    std::size_t end_of_previous = island.begin;
    for (; row != rows.end() && static_cast<std::size_t>(*row * element) < island.end; ++row) {
      const auto begin = static_cast<std::size_t>(*row * element);
      for (std::size_t b = end_of_previous; b < begin; ++b)
        if (image[b] != garbage) return false;
      end_of_previous = begin + row_bytes;
    }
    for (std::size_t b = end_of_previous; b < island.end; ++b)
      if (image[b] != garbage) return false;
  }
  return true;
}

}  // namespace assay
