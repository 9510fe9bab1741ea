// SPDX-License-Identifier: Apache-2.0
#include "wgmma_operands.hpp"

#include <bit>
#include <cstring>

#include "mma.hpp"
#include "options.hpp"

namespace simt::detail {

std::vector<std::uint32_t> pieces(const Descriptor& d, int rows, bool mn_major, int element_bytes) {
  std::vector<std::uint32_t> all;
  if (!mn_major)
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < 32; c += 16) all.push_back(static_cast<std::uint32_t>(d.k_major(r, c)));
  else
    for (int k = 0; k < 32 / element_bytes; ++k)
      for (int c = 0; c < rows * element_bytes; c += 16) all.push_back(static_cast<std::uint32_t>(d.mn_major(c, k)));
  return all;
}

std::vector<std::uint32_t> gathered(const Descriptor& d, int rows, bool mn_major, const unsigned char* arena) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(rows) * 8);
  for (int r = 0; r < rows; ++r) {
    std::uint32_t* const to = words.data() + r * 8;
    if (!mn_major) {
      for (int c = 0; c < 32; c += 16) std::memcpy(to + c / 4, arena + d.k_major(r, c), 16);
      continue;
    }
    for (int k = 0; k < 16; ++k) {
      std::uint16_t v;
      std::memcpy(&v, arena + d.mn_major(2 * r & ~15, k) + (2 * r & 15), 2);
      to[k / 2] |= static_cast<std::uint32_t>(v) << 16 * (k % 2);
    }
  }
  return words;
}

namespace {

float plain_value(float c) {
  if (c != c) return std::bit_cast<float>(0x7fffffffu);
  return c == 0 ? 0.0f : c;
}

enum class Kind : std::uint8_t { zero, finite, special };
Kind kind_of(const std::uint32_t* words, int count, std::uint32_t exponents) {
  std::uint32_t any = 0;
  bool special = false;
  for (int i = 0; i < count; ++i) {
    any |= words[i] & 0x7fff7fffu;
    special |= (words[i] & exponents) == exponents || (words[i] >> 16 & exponents) == exponents;
  }
  return special ? Kind::special : any == 0 ? Kind::zero : Kind::finite;
}

// multiply() for 16-bit elements.
template <bool Half>
void multiply_all(const std::uint32_t* a, const std::uint32_t* b, float* c, int n) {
  constexpr std::uint32_t kExponents = Half ? 0x7c00u : 0x7f80u;
  Kind of_rows[4];
  for (int i = 0; i < 4; ++i) of_rows[i] = kind_of(a + i * 16 * 8, 16 * 8, kExponents);
  for (int j = 0; j < n / 8; ++j) {
    MmaTile<16> tile;
    for (int k = 0; k < 8; ++k)
      for (int i = 0; i < 8; ++i) tile.b[k][i] = b[(j * 8 + i) * 8 + k];
    const Kind of_columns = kind_of(b + j * 8 * 8, 8 * 8, kExponents);
    for (int i = 0; i < 4; ++i) {
      float* const out = c + i * 16 * n + j * 8;
      // A tile of zeros, mostly from outside a matrix, adds nothing unless the other tile has infinities or NaN.
      if ((of_rows[i] == Kind::zero && of_columns != Kind::special) ||
          (of_columns == Kind::zero && of_rows[i] != Kind::special)) {
        for (int r = 0; r < 16; ++r)
          for (int x = 0; x < 8; ++x) out[r * n + x] = plain_value(out[r * n + x]);
        continue;
      }
      std::memcpy(tile.a, a + i * 16 * 8, sizeof tile.a);
      for (int r = 0; r < 16; ++r) std::memcpy(tile.c[r], out + r * n, 32);
      multiply<Half, 16>(tile, options.mma);
      for (int r = 0; r < 16; ++r) std::memcpy(out + r * n, tile.c[r], 32);
    }
  }
}

}  // namespace

void multiply(Element type, const std::uint32_t* a, const std::uint32_t* b, float* c, int n) {
  if (type == Element::half) multiply_all<true>(a, b, c, n);
  else if (type == Element::bfloat16) multiply_all<false>(a, b, c, n);
  else multiply_tf32(a, b, c, kWgmmaRows, n);
}

}  // namespace simt::detail
