// SPDX-License-Identifier: Apache-2.0
// Reads the operands of a wgmma at the addresses that its descriptors give, and multiplies them; used by wgmma.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wgmma.hpp"

namespace simt::detail {

inline constexpr int kWgmmaRows = 64;

struct Descriptor {
  std::size_t start, leading, stride, width;  // bytes; width: of a swizzled row
  explicit Descriptor(std::uint64_t bits)
      : start((bits & 0x3fff) << 4),
        leading((bits >> 16 & 0x3fff) << 4),
        stride((bits >> 32 & 0x3fff) << 4),
        width(bits >> 62 == 0 ? 0 : std::size_t{256} >> (bits >> 62)) {}
  std::size_t swizzled(std::size_t at) const { return at ^ (at >> 3 & (width - 16)); }
  // Offset in the arena of byte `k_byte` (0 to 31) of `row`, k innermost.
  std::size_t k_major(int row, int k_byte) const {
    return swizzled(start + static_cast<std::size_t>(row / 8) * stride + static_cast<std::size_t>(row % 8) * width +
                    static_cast<std::size_t>(k_byte));
  }
  // Offset in the arena of byte `byte` along m or n at k, m or n innermost.
  std::size_t mn_major(int byte, int k) const {
    const auto b = static_cast<std::size_t>(byte);
    return swizzled(start + b / width * leading + static_cast<std::size_t>(k / 8) * stride +
                    static_cast<std::size_t>(k % 8) * width + b % width);
  }
};

// Offsets of the 16-byte pieces of an operand of `rows` rows and 32 bytes of k.
std::vector<std::uint32_t> pieces(const Descriptor& d, int rows, bool mn_major, int element_bytes);
// The operand as words [rows][8], of two neighbouring k each, or of one k of tf32.
std::vector<std::uint32_t> gathered(const Descriptor& d, int rows, bool mn_major, const unsigned char* arena);
// c[64][n] += A[64][8 words] B[n][8 words].
void multiply(Element type, const std::uint32_t* a, const std::uint32_t* b, float* c, int n);

}  // namespace simt::detail
