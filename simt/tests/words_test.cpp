// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "options.hpp"
#include "simt_testing.hpp"

namespace {

using namespace simt::device;
using namespace simt::testing;
using simt::ThreadOrder;

std::uint32_t bits(float v) { return std::bit_cast<std::uint32_t>(v); }

// Loads N matrices and stores r[j] of every lane; element (i, k) of matrix j is 100 j + 10 i + k.
template <int N, bool Trans>
void read_matrices(unsigned* r_out) {
  auto* s = shared_memory<std::uint16_t>();
  if (lane_id() < 8 * N)
    for (int k = 0; k < 8; ++k)
      st(s + lane_id() * 8 + k, static_cast<std::uint16_t>(100 * (lane_id() / 8) + 10 * (lane_id() % 8) + k));
  sync_warp();
  unsigned r[N];
  const std::uint16_t* row = lane_id() < 8 * N ? s + lane_id() * 8 : nullptr;  // other lanes' addresses are ignored
  if constexpr (Trans) ldmatrix_trans<N>(r, row);
  else ldmatrix<N>(r, row);
  for (int j = 0; j < N; ++j) st(r_out + j * 32 + lane_id(), r[j]);
}

template <int N, bool Trans>
void check_matrices() {
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order});
    const Buffer<unsigned> r(N * 32);
    launch(read_matrices<N, Trans>, {.grid = dim3(1), .block = dim3(32), .shared_bytes = N * 128}, nullptr, r.get());
    unsigned wrong = 0;
    for (unsigned j = 0; j < N; ++j)
      for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned g = lane / 4, t = 2 * (lane % 4);
        const unsigned low = 100 * j + (Trans ? 10 * t + g : 10 * g + t), high = low + (Trans ? 10 : 1);
        wrong += r[j * 32 + lane] != (low | high << 16);
      }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("ldmatrix loads rows, or columns with trans, of 1, 2 and 4 matrices", "[simt]") {
  check_matrices<1, false>();
  check_matrices<2, false>();
  check_matrices<4, false>();
  check_matrices<1, true>();
  check_matrices<2, true>();
  check_matrices<4, true>();
}

TEST_CASE("rows that ldmatrix may not read are findings", "[simt]") {
  const auto reads = [](std::ptrdiff_t bytes, const void* other = nullptr) {
    const auto kernel = +[](std::ptrdiff_t at, const void* elsewhere) {
      unsigned r[2];
      const auto* s = shared_memory<unsigned char>() + lane_id() % 16 * 16;
      const void* row = elsewhere != nullptr && lane_id() == 9 ? elsewhere : s + (lane_id() == 9 ? at : 0);
      ldmatrix<2>(r, static_cast<const half*>(row));
    };
    return finding_of([&] { launch(kernel, {.grid = dim3(1), .block = dim3(32), .shared_bytes = 512}, nullptr, bytes, other); });
  };
  CHECK(reads(0).kind == "none");
  CHECK(reads(16).kind == "none");
  CHECK(reads(8).kind == "misaligned");
  CHECK(reads(512 - 9 * 16).kind == "shared_overflow");
  const Buffer<half> global(64);
  CHECK(reads(0, global.get()).kind == "bad_mma");
  CHECK(says(reads(0, global.get()), "outside shared memory"));
}

TEST_CASE("each half of a packed word is rounded once, and there is one NaN", "[simt]") {
  CHECK(pack<half>(1.0f, -2.0f) == 0xc0003c00u);
  CHECK(pack<bfloat16>(1.0f, -2.0f) == 0xc0003f80u);
  CHECK(pack<half>(1 + 0x1p-11f, 65520.0f) == 0x7c003c00u);
  CHECK(pack<bfloat16>(std::bit_cast<float>(0xffc12345u), 1 + 0x1.8p-8f) == 0x3f817fffu);
  unsigned wrong = 0;
  for (unsigned u = 0; u < 0x10000; ++u) {
    const auto h = unpack<half>(u << 16 | (u ^ 0x1234)), b = unpack<bfloat16>(u << 16 | (u ^ 0x1234));
    const bool nan = h[1] != h[1];
    wrong += nan ? bits(h[1]) != 0x7fffffffu : bits(h[1]) != bits(to_float(half{static_cast<std::uint16_t>(u)}));
    wrong += bits(b[1]) != u << 16;
    wrong += bits(b[0]) != (u ^ 0x1234) << 16;
  }
  CHECK(wrong == 0);
  CHECK(multiply_packed<half>(0x3c013c00u, 0x3c014000u) == 0x3c024000u);      // (1 + 2^-10)^2
  CHECK(multiply_packed<half>(0x00017bffu, 0x38004000u) == 0x00007c00u);      // half the least subnormal is a tie: to even
  CHECK(multiply_packed<half>(0x00037c00u, 0xb8000000u) == 0x80027fffu);      // 1.5 least subnormals; ∞·0
  CHECK(multiply_packed<bfloat16>(0x3f810001u, 0x3f813f40u) == 0x3f820001u);  // (1 + 2^-7)^2; 3/4 of the least subnormal
  CHECK(multiply_packed<bfloat16>(0x00800003u, 0x3f7fbf00u) == 0x00808002u);  // a subnormal product rounds up to a normal
  // The expected value is the product in double, rounded to a multiple of the unit in the last place.
  wrong = 0;
  simt::detail::Random random{.state = 3};
  const auto next = [&] { return static_cast<unsigned>(random.next() >> 32); };
  for (int i = 0; i < 100'000; ++i) {
    const unsigned a = next() & 0xffffu,
                   b = i % 2 != 0 ? next() & 0xffffu : (0x4000u - (a & 0x7fffu) + next() % 0x800u) & 0x7fffu;
    const double p = static_cast<double>(unpack<bfloat16>(a)[0]) * static_cast<double>(unpack<bfloat16>(b)[0]);
    if (!(std::fabs(p) < 0x1p127)) continue;
    const double unit = std::ldexp(1.0, std::max(p == 0 ? -126 : std::ilogb(p), -126) - 7);
    wrong += static_cast<double>(unpack<bfloat16>(multiply_packed<bfloat16>(a, b))[0]) != std::nearbyint(p / unit) * unit;
  }
  CHECK(wrong == 0);
}

TEST_CASE("exp2_approx is within 2 ulp and gives zero for subnormals", "[simt]") {
  double worst = 0;
  for (float x = -125.5f; x < 127.5f; x += 0.0371f) {
    const double right = std::exp2(static_cast<double>(x)), error = std::fabs(static_cast<double>(exp2_approx(x)) - right);
    worst = std::max(worst, error / (0x1p-23 * right));
  }
  CHECK(worst < 2);
  CHECK(exp2_approx(-126.5f) == 0);
  CHECK(exp2_approx(-126.0f) == 0x1p-126f);
  CHECK(exp2_approx(0) == 1);
  CHECK(exp2_approx(128) == std::numeric_limits<float>::infinity());
  CHECK(exp2_approx(-std::numeric_limits<float>::infinity()) == 0);
  CHECK(std::isnan(exp2_approx(std::numeric_limits<float>::quiet_NaN())));
}
