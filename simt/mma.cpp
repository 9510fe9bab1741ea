// SPDX-License-Identifier: Apache-2.0
#include "mma.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "async.hpp"
#include "device_hopper.hpp"
#include "device_mma.hpp"
#include "options.hpp"
#include "threads.hpp"

namespace simt::detail {
namespace {

constexpr float kNaN = std::bit_cast<float>(0x7fffffffu);

// significand * 2^(exponent - fraction bits of the format).
struct Operand {
  double value;
  std::int32_t exponent, significand;
};

template <bool Half>
struct Format {
  static constexpr int kFraction = Half ? 10 : 7, kBias = Half ? 15 : 127;
  using Type = std::conditional_t<Half, device::half, device::bfloat16>;
  static double value(std::uint32_t bits) { return static_cast<double>(to_float(Type{static_cast<std::uint16_t>(bits)})); }
  static Operand decode(std::uint32_t bits) {
    const int field = static_cast<int>(bits >> kFraction) & (2 * kBias + 1);
    const int fraction = static_cast<int>(bits) & ((1 << kFraction) - 1);
    const int magnitude = field != 0 ? fraction | 1 << kFraction : fraction;
    return {value(bits), std::max(field, 1) - kBias, (bits & 0x8000u) != 0 ? -magnitude : magnitude};
  }
};

// tf32: a float whose low 13 bits are ignored.
struct Tf32 {
  static constexpr int kFraction = 10;
  static Operand decode(std::uint32_t bits) {
    const int field = static_cast<int>(bits >> 23 & 255u), fraction = static_cast<int>(bits >> 13 & 0x3ffu);
    const int magnitude = field != 0 ? fraction | 1 << kFraction : fraction;
    return {static_cast<double>(std::bit_cast<float>(bits & ~0x1fffu)), std::max(field, 1) - 127,
            bits >> 31 != 0 ? -magnitude : magnitude};
  }
};

std::uint32_t half_of(std::uint32_t word, int k) { return word >> 16 * (k % 2) & 0xffffu; }

// Aligns a signed term: shifts left, then right, and truncates toward zero.
std::int64_t aligned(std::int64_t significand, int shift_left, int shift_right) {
  const std::int64_t magnitude = (significand < 0 ? -significand : significand) << shift_left;
  const std::int64_t kept = shift_right < 63 ? magnitude >> shift_right : 0;
  return significand < 0 ? -kept : kept;
}

// One step of the adder: c + Σ a[k] b[k].
template <class Format>
float add_up(const Operand* a, const Operand* b, float c, int terms, int kept_bits) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(c), c_field = u >> 23 & 255u;
  const int c_exponent = std::max(static_cast<int>(c_field), 1) - 127;
  double special = std::isfinite(c) ? 0 : static_cast<double>(c);
  int exponent = c != 0 ? c_exponent : kLeastExponent;
  for (int k = 0; k < terms; ++k) {
    const double product = a[k].value * b[k].value;
    if (!std::isfinite(product)) special += product;
    else if (product != 0) exponent = std::max(exponent, a[k].exponent + b[k].exponent);
  }
  if (special != 0) return std::isnan(special) ? kNaN : static_cast<float>(special);

  const std::int64_t fraction = u & 0x7fffffu, magnitude = c_field != 0 ? fraction | 0x800000 : fraction;
  std::int64_t sum = 0;
  if (magnitude != 0) sum = aligned(u >> 31 != 0 ? -magnitude : magnitude, kept_bits - 23, exponent - c_exponent);
  for (int k = 0; k < terms; ++k)
    if (const std::int64_t product = std::int64_t{a[k].significand} * b[k].significand; product != 0)
      sum += aligned(product, kept_bits - 2 * Format::kFraction, exponent - a[k].exponent - b[k].exponent);
  return truncate(std::ldexp(static_cast<double>(sum), exponent - kept_bits));
}

// Adds in double and rounds once.
template <bool Half, int K>
void multiply_fast(MmaTile<K>& tile) {
  double b[K][kMmaColumns];
  for (int k = 0; k < K; ++k)
    for (int n = 0; n < kMmaColumns; ++n) b[k][n] = Format<Half>::value(half_of(tile.b[k / 2][n], k));
  for (int m = 0; m < kMmaRows; ++m) {
    double sum[kMmaColumns];
    for (int n = 0; n < kMmaColumns; ++n) sum[n] = static_cast<double>(tile.c[m][n]);
    for (int k = 0; k < K; ++k) {
      const double a = Format<Half>::value(half_of(tile.a[m][k / 2], k));
      for (int n = 0; n < kMmaColumns; ++n) sum[n] += a * b[k][n];
    }
    for (int n = 0; n < kMmaColumns; ++n) tile.c[m][n] = std::isnan(sum[n]) ? kNaN : static_cast<float>(sum[n]);
  }
}

}  // namespace

float truncate(double v) {
  if (std::fabs(v) >= 0x1p128) return v < 0 ? -HUGE_VALF : HUGE_VALF;
  const auto f = static_cast<float>(v);
  const float kept =
      std::fabs(static_cast<double>(f)) > std::fabs(v) ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(f) - 1) : f;
  return kept == 0 ? 0.0f : kept;  // +0 for both zeros
}

template <bool Half, int K>
void multiply_plainly(MmaTile<K>& tile, Mma how) {
  Operand b[kMmaColumns][K];
  for (int n = 0; n < kMmaColumns; ++n)
    for (int k = 0; k < K; ++k) b[n][k] = Format<Half>::decode(half_of(tile.b[k / 2][n], k));
  for (int m = 0; m < kMmaRows; ++m) {
    Operand a[K];
    for (int k = 0; k < K; ++k) a[k] = Format<Half>::decode(half_of(tile.a[m][k / 2], k));
    for (int n = 0; n < kMmaColumns; ++n) {
      float& c = tile.c[m][n];
      if (how == Mma::hopper) c = add_up<Format<Half>>(a, b[n], c, K, 25);
      else
        for (int k = 0; k < K; k += 8) c = add_up<Format<Half>>(a + k, b[n] + k, c, 8, 24);
    }
  }
}

void multiply_tf32(const std::uint32_t* a, const std::uint32_t* b, float* c, int rows, int columns) {
  constexpr int kTerms = 8;
  std::vector<Operand> of_b(static_cast<std::size_t>(columns * kTerms));
  for (std::size_t i = 0; i < of_b.size(); ++i) of_b[i] = Tf32::decode(b[i]);
  for (int m = 0; m < rows; ++m) {
    Operand of_a[kTerms];
    for (int k = 0; k < kTerms; ++k) of_a[k] = Tf32::decode(a[m * kTerms + k]);
    for (int n = 0; n < columns; ++n) {
      float& sum = c[m * columns + n];
      sum = add_up<Tf32>(of_a, of_b.data() + n * kTerms, sum, kTerms, 25);
    }
  }
}

template <bool Half, int K>
void multiply(MmaTile<K>& tile, Mma how) {
  if (how == Mma::fast) multiply_fast<Half, K>(tile);
  else if (!multiply_in_vectors<Half, K>(tile, how)) multiply_plainly<Half, K>(tile, how);
}

template <bool Half, int K>
void run_mma(WarpWork* const* lanes) {
  MmaTile<K> tile;
  for (int lane = 0; lane < 32; ++lane) {
    const auto& l = *reinterpret_cast<const MmaLane*>(lanes[lane]);
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < K / 4; ++i) tile.a[g + 8 * (i % 2)][t + 4 * (i / 2)] = l.a[i];
    for (int i = 0; i < K / 8; ++i) tile.b[t + 4 * i][g] = l.b[i];
    for (int i = 0; i < 2; ++i) std::memcpy(&tile.c[g + 8 * i][2 * t], l.c + 2 * i, 2 * sizeof(float));
  }
  multiply<Half, K>(tile, options.mma);
  for (int lane = 0; lane < 32; ++lane) {
    const auto& l = *reinterpret_cast<const MmaLane*>(lanes[lane]);
    for (int i = 0; i < 2; ++i) std::memcpy(l.c + 2 * i, &tile.c[lane / 4 + 8 * i][2 * (lane % 4)], 2 * sizeof(float));
  }
}
template void run_mma<true, 16>(WarpWork* const*);
template void run_mma<true, 8>(WarpWork* const*);
template void run_mma<false, 16>(WarpWork* const*);
template void run_mma<false, 8>(WarpWork* const*);
template void multiply<true, 16>(MmaTile<16>&, Mma);
template void multiply<true, 8>(MmaTile<8>&, Mma);
template void multiply<false, 16>(MmaTile<16>&, Mma);
template void multiply<false, 8>(MmaTile<8>&, Mma);
template void multiply_plainly<true, 16>(MmaTile<16>&, Mma);
template void multiply_plainly<true, 8>(MmaTile<8>&, Mma);
template void multiply_plainly<false, 16>(MmaTile<16>&, Mma);
template void multiply_plainly<false, 8>(MmaTile<8>&, Mma);

template <int N, bool Trans>
void run_ldmatrix(WarpWork* const* lanes) {
  const auto lane_of = [&](int lane) -> const MatrixLane& { return *reinterpret_cast<const MatrixLane*>(lanes[lane]); };
  // Each lane checked its own row on arrival.  Another lane may have begun a copy since then, so all rows are checked again.
  if (async_copies.in_flight())
    for (int i = 0; i < 8 * N; ++i)
      check_not_in_flight(reinterpret_cast<std::uintptr_t>(lane_of(i).row), 16, false, running_thread->where);
  for (int j = 0; j < N; ++j) {
    std::uint16_t matrix[8][8];
    for (int i = 0; i < 8; ++i) std::memcpy(matrix[i], lane_of(8 * j + i).row, 16);
    for (int lane = 0; lane < 32; ++lane) {
      const int g = lane / 4, t = 2 * (lane % 4);
      const unsigned low = Trans ? matrix[t][g] : matrix[g][t], high = Trans ? matrix[t + 1][g] : matrix[g][t + 1];
      lane_of(lane).r[j] = low | high << 16;
    }
  }
}
template <int N>
void run_stmatrix(WarpWork* const* lanes) {
  const auto lane_of = [&](int lane) -> const StoreLane& { return *reinterpret_cast<const StoreLane*>(lanes[lane]); };
  for (int j = 0; j < N; ++j)
    for (int i = 0; i < 8; ++i) {
      std::uint32_t row[4];
      for (int t = 0; t < 4; ++t) row[t] = lane_of(4 * i + t).r[j];
      std::memcpy(lane_of(8 * j + i).row, row, 16);
    }
}
template void run_stmatrix<1>(WarpWork* const*);
template void run_stmatrix<2>(WarpWork* const*);
template void run_stmatrix<4>(WarpWork* const*);

template void run_ldmatrix<1, false>(WarpWork* const*);
template void run_ldmatrix<2, false>(WarpWork* const*);
template void run_ldmatrix<4, false>(WarpWork* const*);
template void run_ldmatrix<1, true>(WarpWork* const*);
template void run_ldmatrix<2, true>(WarpWork* const*);
template void run_ldmatrix<4, true>(WarpWork* const*);

}  // namespace simt::detail
