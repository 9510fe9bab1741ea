// SPDX-License-Identifier: Apache-2.0
// Tensor cores.  Exact: all products and c are aligned to the largest exponent E among them and truncated to F bits below
// it, added as integers, and the sum is truncated to float; a product's exponent is the sum of its factors', its
// significand is below 4.  Hopper: F = 25, all of k in one step; Ampere: F = 24, steps of 8.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "block.hpp"
#include "device_mma.hpp"

namespace simt::detail {
namespace {

constexpr int kRows = 16, kColumns = 8;
constexpr float kCanonicalNaN = std::bit_cast<float>(0x7fffffffu);

// significand * 2^(exponent - fraction bits of the format); zero has the exponent of a subnormal.
struct Operand {
  double value;
  std::int32_t exponent, significand;
};

template <bool Half>
struct Format {
  static constexpr int kFraction = Half ? 10 : 7, kBias = Half ? 15 : 127;
  using Type = std::conditional_t<Half, device::half, device::bfloat16>;
  static Operand decode(std::uint16_t bits) {
    const int field = bits >> kFraction & (2 * kBias + 1), fraction = bits & ((1 << kFraction) - 1);
    const int magnitude = field != 0 ? fraction | 1 << kFraction : fraction;
    return {static_cast<double>(to_float(Type{bits})), (field != 0 ? field : 1) - kBias,
            bits >> 15 != 0 ? -magnitude : magnitude};
  }
};

// Toward zero.  Note: what reaches 2^128 becomes infinite, as nothing is rounded there.
float truncate(double v) {
  if (std::fabs(v) >= 0x1p128) return v < 0 ? -HUGE_VALF : HUGE_VALF;
  const auto f = static_cast<float>(v);
  return std::fabs(static_cast<double>(f)) > std::fabs(v) ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(f) - 1) : f;
}

// A term with its sign, aligned: truncated toward zero.
std::int64_t aligned(std::int64_t significand, int shift_left, int shift_right) {
  const std::int64_t magnitude = (significand < 0 ? -significand : significand) << shift_left;
  const std::int64_t kept = shift_right < 63 ? magnitude >> shift_right : 0;
  return significand < 0 ? -kept : kept;
}

// c + Σ a[k] b[k] over one step of the adder.
template <bool Half>
float exact_step(const Operand* a, const Operand* b, float c, int terms, int kept_bits) {
  double special = std::isfinite(c) ? 0 : static_cast<double>(c);
  const std::uint32_t u = std::bit_cast<std::uint32_t>(c), c_field = u >> 23 & 255u;
  const int c_exponent = (c_field != 0 ? static_cast<int>(c_field) : 1) - 127;
  int exponent = c_exponent;
  for (int k = 0; k < terms; ++k) {
    const double product = a[k].value * b[k].value;
    if (!std::isfinite(product)) special += product;
    else if (product != 0) exponent = std::max(exponent, a[k].exponent + b[k].exponent);
  }
  if (special != 0) return std::isnan(special) ? kCanonicalNaN : static_cast<float>(special);

  const std::int64_t fraction = u & 0x7fffffu, magnitude = c_field != 0 ? fraction | 0x800000 : fraction;
  std::int64_t sum = aligned(u >> 31 != 0 ? -magnitude : magnitude, kept_bits - 23, exponent - c_exponent);
  for (int k = 0; k < terms; ++k) {
    const std::int64_t product = std::int64_t{a[k].significand} * b[k].significand;
    if (product != 0) sum += aligned(product, kept_bits - 2 * Format<Half>::kFraction, exponent - a[k].exponent - b[k].exponent);
  }
  return truncate(std::ldexp(static_cast<double>(sum), exponent - kept_bits));
}

template <bool Half, int K>
float exact(const Operand* a, const Operand* b, float c, Mma how) {
  if (how == Mma::hopper) return exact_step<Half>(a, b, c, K, 25);
  for (int k = 0; k < K; k += 8) c = exact_step<Half>(a + k, b + k, c, 8, 24);
  return c;
}

template <int K>
float fast(const Operand* a, const Operand* b, float c) {
  double sum = static_cast<double>(c);
  for (int k = 0; k < K; ++k) sum += a[k].value * b[k].value;
  return std::isnan(sum) ? kCanonicalNaN : static_cast<float>(sum);
}

}  // namespace

template <bool Half, int K>
void run_mma(WarpWork* const* lanes) {
  Operand a[kRows][K], b[kColumns][K];
  float* c[kRows][kColumns];
  for (int lane = 0; lane < 32; ++lane) {
    const auto& l = *reinterpret_cast<const MmaLane*>(lanes[lane]);
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < K / 2; ++i)
      a[g + 8 * (i / 2 % 2)][2 * t + i % 2 + 8 * (i / 4)] =
          Format<Half>::decode(static_cast<std::uint16_t>(l.a[i / 2] >> 16 * (i % 2)));
    for (int i = 0; i < K / 4; ++i)
      b[g][2 * t + i % 2 + 8 * (i / 2)] = Format<Half>::decode(static_cast<std::uint16_t>(l.b[i / 2] >> 16 * (i % 2)));
    for (int i = 0; i < 4; ++i) c[g + 8 * (i / 2)][2 * t + i % 2] = &l.c[i];
  }
  const Mma how = machine.options.mma;
  for (int m = 0; m < kRows; ++m)
    for (int n = 0; n < kColumns; ++n) {
      float& v = *c[m][n];
      v = how == Mma::fast ? fast<K>(a[m], b[n], v) : exact<Half, K>(a[m], b[n], v, how);
    }
}
template void run_mma<true, 16>(WarpWork* const*);
template void run_mma<true, 8>(WarpWork* const*);
template void run_mma<false, 16>(WarpWork* const*);
template void run_mma<false, 8>(WarpWork* const*);

template <int N, bool Trans>
void run_ldmatrix(WarpWork* const* lanes) {
  const auto lane_of = [&](int lane) -> const MatrixLane& { return *reinterpret_cast<const MatrixLane*>(lanes[lane]); };
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
template void run_ldmatrix<1, false>(WarpWork* const*);
template void run_ldmatrix<2, false>(WarpWork* const*);
template void run_ldmatrix<4, false>(WarpWork* const*);
template void run_ldmatrix<1, true>(WarpWork* const*);
template void run_ldmatrix<2, true>(WarpWork* const*);
template void run_ldmatrix<4, true>(WarpWork* const*);

}  // namespace simt::detail
