// SPDX-License-Identifier: Apache-2.0
// Where the operands of a wgmma lie, as its descriptors say, and what comes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wgmma.hpp"

namespace simt::detail {

inline constexpr int kWgmmaRows = 64;

struct Descriptor {
  std::size_t start, leading, stride, width;  // bytes; of a swizzled row
  explicit Descriptor(std::uint64_t bits)
      : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4), stride((bits >> 32 & 0x3fff) << 4),
        width(bits >> 62 == 0 ? 0 : std::size_t{256} >> (bits >> 62)) {}
  std::size_t swizzled(std::size_t at) const { return at ^ (at >> 3 & (width - 16)); }
  // Of the 16-byte piece that holds byte `k_byte` (of the step) of `row`, k innermost.
  std::size_t k_major(int row, int k_byte) const {
    return swizzled(start + static_cast<std::size_t>(row / 8) * stride + static_cast<std::size_t>(row % 8) * width +
                    static_cast<std::size_t>(k_byte));
  }
  // Of the piece that holds byte `byte` of the row of m or n, at k.
  std::size_t mn_major(int byte, int k) const {
    const auto b = static_cast<std::size_t>(byte);
    return swizzled(start + b / width * leading + static_cast<std::size_t>(k / 8) * stride + static_cast<std::size_t>(k % 8) * width +
                    b % width);
  }
};

// Offsets of the pieces of 16 bytes that an operand of `rows` rows takes: 32 bytes of k.
std::vector<std::uint32_t> pieces(const Descriptor& d, int rows, bool mn_major, int element_bytes);
// Its words, of two neighbouring k or one of tf32, [rows][8].
std::vector<std::uint32_t> gathered(const Descriptor& d, int rows, bool mn_major, const unsigned char* arena);
// c[64][n] += A[64][8 words] B[n][8 words].
void multiply(Element type, const std::uint32_t* a, const std::uint32_t* b, float* c, int n);

}  // namespace simt::detail
