// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "mma.hpp"
#include "options.hpp"
#include "simt_testing.hpp"

namespace {

using namespace simt::device;
using namespace simt::testing;
using simt::Finding;
using simt::Mma;
using simt::ThreadOrder;

// One warp computes d[16, 8] = a[16, K] b[K, 8] + c[16, 8]; the matrices are row-major.
template <class T, int K>
void one_mma(const T* a, const T* b, const float* c, float* d) {
  const int g = lane_id() / 4, t = lane_id() % 4;
  unsigned fa[K / 4], fb[K / 8];
  float acc[4];
  const auto pair = [](T low, T high) { return static_cast<unsigned>(low.bits) | static_cast<unsigned>(high.bits) << 16; };
  for (int i = 0; i < K / 4; ++i) {
    const T* p = a + (g + 8 * (i % 2)) * K + 2 * t + 8 * (i / 2);
    fa[i] = pair(ld(p), ld(p + 1));
  }
  for (int i = 0; i < K / 8; ++i) fb[i] = pair(ld(b + (2 * t + 8 * i) * 8 + g), ld(b + (2 * t + 8 * i + 1) * 8 + g));
  for (int i = 0; i < 4; ++i) acc[i] = ld(c + (g + 8 * (i / 2)) * 8 + 2 * t + i % 2);
  if constexpr (K == 16) mma_m16n8k16<T>(acc, fa, fb);
  else mma_m16n8k8<T>(acc, fa, fb);
  for (int i = 0; i < 4; ++i) st(d + (g + 8 * (i / 2)) * 8 + 2 * t + i % 2, acc[i]);
}

template <class T, int K>
struct Product {
  Buffer<T> a{16 * K}, b{K * 8};
  Buffer<float> c{16 * 8}, d{16 * 8};
  void run(const simt::Options& options) {
    const Configured configured(options);
    run_block(one_mma<T, K>, 32, static_cast<const T*>(a.get()), static_cast<const T*>(b.get()),
              static_cast<const float*>(c.get()), d.get());
  }
};

template <class T, int K>
void small_integers() {
  Product<T, K> p;
  for (std::size_t i = 0; i < p.a.size(); ++i) p.a[i] = from_float<T>(static_cast<float>(i * 7 % 11) - 5);
  for (std::size_t i = 0; i < p.b.size(); ++i) p.b[i] = from_float<T>(static_cast<float>(i * 5 % 13) - 6);
  for (std::size_t i = 0; i < p.c.size(); ++i) p.c[i] = static_cast<float>(i);
  for (const Mma how : {Mma::hopper, Mma::ampere, Mma::fast})
    for (const ThreadOrder order : kOrders) {
      p.run({.order = order, .seed = 5, .mma = how});
      unsigned wrong = 0;
      for (std::size_t m = 0; m < 16; ++m)
        for (std::size_t n = 0; n < 8; ++n) {
          float want = p.c[m * 8 + n];
          for (std::size_t k = 0; k < K; ++k) want += to_float(p.a[m * K + k]) * to_float(p.b[k * 8 + n]);
          wrong += p.d[m * 8 + n] != want;
        }
      CHECK(wrong == 0);
    }
}

// What the plain arithmetic makes of row 0 and column 0, and for bfloat16 that of tf32, which has every bfloat16.
template <class T>
void agrees_with_the_others(const Product<T, 16>& p, Mma how, std::size_t terms) {
  simt::detail::MmaTile<16> tile{};
  std::uint32_t a[8] = {}, b[8] = {};
  for (std::size_t k = 0; k < terms; ++k) {
    const std::uint32_t x = std::bit_cast<std::uint16_t>(p.a[k]), y = std::bit_cast<std::uint16_t>(p.b[k * 8]);
    tile.a[0][k / 2] |= x << 16 * (k % 2);
    tile.b[k / 2][0] |= y << 16 * (k % 2);
    if (k < 8) {
      a[k] = x << 16;
      b[k] = y << 16;
    }
  }
  float c = p.c[0];
  tile.c[0][0] = c;
  simt::detail::multiply_plainly<std::is_same_v<T, half>, 16>(tile, how);
  CHECK(std::bit_cast<std::uint32_t>(tile.c[0][0]) == std::bit_cast<std::uint32_t>(p.d[0]));
  if (std::is_same_v<T, half> || how != Mma::hopper || terms > 8) return;
  simt::detail::multiply_tf32(a, b, &c, 1, 1);
  CHECK(std::bit_cast<std::uint32_t>(c) == std::bit_cast<std::uint32_t>(p.d[0]));
}

// Returns c + Σ a·b over the given terms, which stand at k = 0, 1, ... of row 0 and column 0; all other elements are zero.
template <class T>
float dot(Mma how, float c, const std::vector<std::pair<double, double>>& terms) {
  Product<T, 16> p;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    p.a[k] = from_float<T>(static_cast<float>(terms[k].first));
    p.b[k * 8] = from_float<T>(static_cast<float>(terms[k].second));
    REQUIRE((terms[k].first != terms[k].first || static_cast<double>(to_float(p.a[k])) == terms[k].first));
    REQUIRE((terms[k].second != terms[k].second || static_cast<double>(to_float(p.b[k * 8])) == terms[k].second));
  }
  p.c[0] = c;
  p.run({.mma = how});
  if (how != Mma::fast) agrees_with_the_others<T>(p, how, terms.size());
  return p.d[0];
}
std::vector<std::pair<double, double>> times(std::size_t n, double a, double b) { return {n, {a, b}}; }

std::uint32_t bits(float v) { return std::bit_cast<std::uint32_t>(v); }

struct Bits {  // splitmix64
  simt::detail::Random random;
  std::uint32_t next() { return static_cast<std::uint32_t>(random.next() >> 32); }
};

// A word of two values whose exponent fields lie in [low, low + range).
std::uint32_t pair_between(Bits& from, int fraction_bits, std::uint32_t low, std::uint32_t range) {
  std::uint32_t word = 0;
  for (int i = 0; i < 2; ++i) {
    const std::uint32_t u = from.next(), field = low + (u >> 16) % range;
    word |= ((u & 0x8000u) | field << fraction_bits | (u & ((1u << fraction_bits) - 1u))) << 16 * i;
  }
  return word;
}

template <bool Half, int K>
void vectors_agree() {
  using simt::detail::MmaTile;
  constexpr int kFraction = Half ? 10 : 7;
  constexpr std::uint32_t kBias = Half ? 15 : 127, kTop = 2 * kBias + 1;
  struct Class {
    std::uint32_t low, range, c_low, c_range;
    bool may_refuse;
  };
  // Moderate; subnormal operands; near-cancellation; subnormal results of bfloat16, and some below them; any finite; any bits.
  const Class classes[] = {{kBias - 5, 10, 120, 14, false},
                           {0, 2, 0, 2, false},
                           {kBias, 1, 125, 5, false},
                           {kBias - (Half ? 15 : 73), Half ? 3 : 17, 0, 12, false},
                           {kBias - (Half ? 15 : 77), Half ? 3 : 14, 0, 1, false},
                           {0, kTop, 0, 255, !Half},
                           {0, kTop + 1, 0, 256, true}};
  Bits from{{.state = 7}};
  for (const Class& k : classes)
    for (const Mma how : {Mma::hopper, Mma::ampere}) {
      int taken = 0, wrong = 0;
      for (int i = 0; i < 300; ++i) {
        MmaTile<K> tile;
        for (auto& row : tile.a)
          for (auto& word : row) word = pair_between(from, kFraction, k.low, k.range);
        for (auto& row : tile.b)
          for (auto& word : row) word = pair_between(from, kFraction, k.low, k.range);
        for (auto& row : tile.c)
          for (float& v : row) {
            const std::uint32_t u = from.next();
            v = i % 3 == 0 ? 0 : std::bit_cast<float>((u & 0x807fffffu) | (k.c_low + from.next() % k.c_range) << 23);
          }
        MmaTile<K> plain = tile, whole = tile;
        simt::detail::multiply_plainly<Half, K>(plain, how);
        simt::detail::multiply<Half, K>(whole, how);
        wrong += std::memcmp(plain.c, whole.c, sizeof plain.c) != 0;
        if (!simt::detail::multiply_in_vectors<Half, K>(tile, how)) continue;
        ++taken;
        wrong += std::memcmp(plain.c, tile.c, sizeof plain.c) != 0;
      }
      CHECK(wrong == 0);
#if defined(__AVX2__)
      if (!k.may_refuse) CHECK(taken == 300);
#endif
    }
}

template <class Kernel>
Finding found(Kernel kernel, unsigned threads) {
  Finding first;
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .seed = 3, .time_limit_s = kHang_s});
    const Finding f =
        finding_of([&] { launch(kernel, {.grid = dim3(1), .block = dim3(threads), .shared_bytes = 1024}, nullptr); });
    if (order != ThreadOrder::forward) CHECK(f.kind == first.kind);
    if (order == ThreadOrder::forward) first = f;
  }
  return first;
}

void multiply_zeros() {
  float c[4] = {};
  const unsigned a[4] = {}, b[2] = {};
  mma_m16n8k16<half>(c, a, b);
}

}  // namespace

TEST_CASE("mma of small integers is exact, for every shape and type", "[simt]") {
  small_integers<half, 16>();
  small_integers<bfloat16, 16>();
  small_integers<half, 8>();
  small_integers<bfloat16, 8>();
}

TEST_CASE("terms are truncated F bits below the largest exponent: Hopper 25, Ampere 24", "[simt]") {
  // 1 + 16 · 2^-26 is a float, but every one of its 16 terms is truncated to zero.
  CHECK(dot<half>(Mma::fast, 1, times(16, 0x1p-13, 0x1p-13)) == 1 + 0x1p-22f);
  CHECK(dot<half>(Mma::hopper, 1, times(16, 0x1p-13, 0x1p-13)) == 1);
  CHECK(dot<half>(Mma::ampere, 1, times(16, 0x1p-13, 0x1p-13)) == 1);
  CHECK(dot<half>(Mma::hopper, 1, times(16, 0x1p-13, 0x1p-12)) == 1 + 0x1p-21f);
  CHECK(dot<half>(Mma::ampere, 1, times(16, 0x1p-13, 0x1p-12)) == 1);
  CHECK(dot<half>(Mma::ampere, 1, times(16, 0x1p-12, 0x1p-12)) == 1 + 0x1p-20f);
  // Magnitudes are truncated, so the sign makes no difference.
  CHECK(dot<half>(Mma::hopper, 1, times(16, -0x1p-13, 0x1p-13)) == 1);
  CHECK(dot<bfloat16>(Mma::hopper, 1, times(16, -0x1.8p-13, 0x1p-13)) == 1);
  CHECK(dot<bfloat16>(Mma::hopper, 1, times(16, -0x1.8p-13, 0x1p-12)) == 1 - 0x1p-21f);
}

TEST_CASE("terms are aligned to 2^-133 at least, so what is below 2^-158 is lost", "[simt]") {
  CHECK(dot<bfloat16>(Mma::hopper, 0, {{0x1p-23, 0x1p-126}, {-0x1p-33, 0x1p-125}}) == 0);
  CHECK(dot<bfloat16>(Mma::hopper, 0, {{0x1p-23, 0x1p-126}, {-0x1p-33, 0x1p-126}}) == 0x1p-149f);
  CHECK(dot<bfloat16>(Mma::hopper, 0, {{-0x1p-23, 0x1p-126}, {0x1p-33, 0x1p-125}}) == 0);
  CHECK(dot<bfloat16>(Mma::hopper, 0, {{-0x1p-23, 0x1p-126}, {0x1p-33, 0x1p-126}}) == -0x1p-149f);
  // 15 terms of -2^-162 would make the sum less than 2^-149, but each is lost.
  auto terms = times(16, -0x1p-36, 0x1p-126);
  terms[0] = {0x1p-23, 0x1p-126};
  CHECK(dot<bfloat16>(Mma::hopper, 0, terms) == 0x1p-149f);
}

TEST_CASE("the sum is truncated toward zero", "[simt]") {
  for (const Mma how : {Mma::hopper, Mma::ampere}) {
    CHECK(dot<half>(how, 1, times(1, 0x1.8p-12, 0x1p-12)) == 1);  // to nearest, 1.5 · 2^-24 would be rounded up
    CHECK(dot<half>(how, -1, times(1, -0x1.8p-12, 0x1p-12)) == -1);
    CHECK(dot<half>(how, 1, times(1, -0x1p-12, 0x1p-12)) == 1 - 0x1p-24f);
  }
  CHECK(dot<half>(Mma::fast, 1, times(1, 0x1.8p-12, 0x1p-12)) == 1 + 0x1p-23f);
  CHECK(dot<half>(Mma::hopper, 1, times(1, -0x1p-13, 0x1p-12)) == 1 - 0x1p-24f);  // 1 - 2^-25, which a float cannot hold
}

TEST_CASE("the exponent of a product is the sum of its factors', though its significand may reach 4", "[simt]") {
  // 16 products of the largest significands take more than 31 bits.
  CHECK(dot<half>(Mma::hopper, 1, times(16, 2047.0 / 1024, 2047.0 / 1024)) == 4255745.0f / 65536);
  // In 2.25 - 2.25 + 2^-25 the exponent is that of 1, the sum of the factors' exponents.
  CHECK(dot<half>(Mma::hopper, 0, {{1.5, 1.5}, {-1.5, 1.5}, {0x1p-13, 0x1p-12}}) == 0x1p-25f);
  CHECK(dot<half>(Mma::hopper, 0, {{2, 1.5}, {-2, 1.5}, {0x1p-13, 0x1p-12}}) == 0);
  // A product with a zero takes no part, however large its other factor, in either order.
  CHECK(dot<half>(Mma::hopper, 0, {{0x1p-14, 0x1p-14}, {0, 65504}, {65504, 0}}) == 0x1p-28f);
}

TEST_CASE("Hopper adds 16 products in one step, Ampere in two steps of 8", "[simt]") {
  const std::pair<double, double> large{4096, 4096}, minus{-4096, 4096}, quarter{0.5, 0.5}, none{0, 0};
  std::vector<std::pair<double, double>> apart(16, none);  // large and minus in the first step, a quarter in the second
  apart[0] = large;
  apart[1] = minus;
  apart[8] = quarter;
  CHECK(dot<half>(Mma::ampere, 0, apart) == 0.25f);
  CHECK(dot<half>(Mma::hopper, 0, apart) == 0);
  std::swap(apart[1], apart[9]);
  CHECK(dot<half>(Mma::ampere, 0, apart) == 0);
  apart[8] = {1, 0.5};
  CHECK(dot<half>(Mma::hopper, 0, apart) == 0.5f);
  CHECK(dot<half>(Mma::ampere, 0, apart) == 0);
}

TEST_CASE("mma treats subnormals, overflow, infinities and NaN as tensor cores do", "[simt]") {
  constexpr float kMax = std::numeric_limits<float>::max(), kInf = std::numeric_limits<float>::infinity();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const Mma how : {Mma::hopper, Mma::ampere}) {
    CHECK(dot<half>(how, 0, {{0x1p-24, 0x1p-24}, {0x1p-24, 3}}) == 3 * 0x1p-24f);
    CHECK(dot<half>(how, 0x1p-149f, {}) == 0x1p-149f);
    CHECK(dot<bfloat16>(how, 0, times(1, 0x1.8p-100, 0x1p-49)) == 0x1p-149f);  // 1.5 times the least float
    CHECK(bits(dot<bfloat16>(how, 0, times(1, 0x1p-100, 0x1p-50))) == 0);
    CHECK(dot<bfloat16>(how, 0x1p-126f, times(1, -0x1p-133, 1)) == 0x1p-126f - 0x1p-133f);
    CHECK(dot<bfloat16>(how, kMax, times(1, 0x1p100, 8)) == kMax);  // half an ulp more: infinite if rounded to nearest
    CHECK(dot<bfloat16>(how, kMax, times(1, 0x1p100, 16)) == kInf);
    CHECK(dot<bfloat16>(how, -kMax, times(1, -0x1p100, 16)) == -kInf);
    CHECK(dot<bfloat16>(how, 1, times(1, 0x1p127, 2)) == kInf);
    CHECK(dot<half>(how, 1, times(1, kInfinity, -2)) == -kInf);
    CHECK(dot<half>(how, kInf, times(3, 2, 2)) == kInf);
    CHECK(bits(dot<half>(how, -kInf, times(1, kInfinity, 2))) == 0x7fffffffu);
    CHECK(bits(dot<half>(how, 0, times(1, kInfinity, 0))) == 0x7fffffffu);
    CHECK(bits(dot<half>(how, std::bit_cast<float>(0xff812345u), {})) == 0x7fffffffu);
  }
  CHECK(bits(dot<half>(Mma::fast, 0, times(1, kInfinity, 0))) == 0x7fffffffu);
}

TEST_CASE("the AVX2 arithmetic gives the bits of the plain arithmetic", "[simt]") {
  vectors_agree<true, 16>();
  vectors_agree<false, 16>();
  vectors_agree<true, 8>();
  vectors_agree<false, 8>();
}

TEST_CASE("mma needs all 32 lanes of a warp at one call", "[simt]") {
  CHECK(found(multiply_zeros, 96).kind == "none");
  const Finding few = found(multiply_zeros, 40);
  CHECK(few.kind == "bad_mma");
  CHECK(says(few, "names lane 8, which the block does not have"));
  CHECK(found(
            +[] {
              if (lane_id() != 5) multiply_zeros();
            },
            64)
            .kind == "bad_mma");
  const auto diverged = +[] {
    if (lane_id() < 16) return multiply_zeros();
    sync_warp(0xffff0000u);
    shuffle_xor(1, 16);
  };
  const Finding f = found(diverged, 32);
  CHECK(f.kind == "deadlock");
  CHECK(says(f, "16 threads at mma of lanes 0xffffffff"));
  const auto by_type = [](auto type) {
    float c[4] = {};
    const unsigned a[4] = {}, b[2] = {};
    mma_m16n8k16<decltype(type)>(c, a, b);
  };
  static constexpr auto kByType = by_type;
  CHECK(found(
            +[] {
              if (lane_id() < 7) kByType(half{});
              else kByType(bfloat16{});
            },
            32)
            .kind == "bad_mma");
}
