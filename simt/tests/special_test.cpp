// SPDX-License-Identifier: Apache-2.0
// The special function unit against an H200: sums of all results of one sign and exponent, as the GPU gave them.
#include "special.hpp"

#include "simt_testing.hpp"

namespace {

using namespace simt::detail;
using u64 = std::uint64_t;

// The sum over all arguments whose sign and exponent these 9 bits are.
u64 sum_of(float (*f)(float), std::uint32_t top) {
  u64 sum = 0;
  for (std::uint32_t u = top << 23, n = 0; n < 1u << 23; ++u, ++n)
    sum += u64{std::bit_cast<std::uint32_t>(f(std::bit_cast<float>(u))) ^ (u * 2654435761u)} * 0x9E3779B97F4A7C15u;
  return sum;
}

struct OfExponent {
  bool negative;
  int exponent;
  u64 sum;
};
void check(float (*f)(float), std::initializer_list<OfExponent> all) {
  for (const OfExponent& e : all) {
    INFO((e.negative ? "negative, " : "positive, ") << "exponent " << e.exponent);
    CHECK(sum_of(f, static_cast<std::uint32_t>(e.exponent + 127) | (e.negative ? 256u : 0u)) == e.sum);
  }
}

TEST_CASE("special: ex2.approx.ftz.f32 is that of an H200", "[simt][special]") {
  check(special_power, {{false, -127, 0xd9fea18fd6c00000},
                        {false, -3, 0xa8330b1221c40180},
                        {false, 0, 0x32ed9e6f59f19c1a},
                        {false, 6, 0x546c7dd75a132dc0},
                        {true, -126, 0x18ee5baf56c00000},
                        {true, -25, 0x178353d956c00000},
                        {true, -3, 0xf22700b2383115c0},
                        {true, 0, 0x6d5dd4a70ed4003b},
                        {true, 6, 0x6a4395245d6d31b4},
                        {true, 7, 0x552cc1081ec00000}});
}
TEST_CASE("special: rcp.approx.ftz.f32 is that of an H200", "[simt][special]") {
  check(special_reciprocal, {{false, -127, 0x59491da4d6c00000},
                             {false, 0, 0xac8dc35992a2ef33},
                             {true, 5, 0xc5dfacdae7a2ef33},
                             {false, 125, 0x2300f7196fa2ef33},
                             {false, 126, 0xf7b797df14400000},
                             {false, 127, 0xd5e244f31ec00000},
                             {false, 128, 0xf402c9dd510a7c15}});
}
TEST_CASE("special: rsqrt.approx.ftz.f32 is that of an H200", "[simt][special]") {
  check(special_reciprocal_root, {{false, -126, 0xa3387f6d9eeb7447},
                                  {false, 0, 0x1624b6f324eb7447},
                                  {false, 1, 0xb30a8cebcaa3ea9a},
                                  {true, 1, 0xd9fea18fd6c00000},
                                  {false, 127, 0x49942cd71aa3ea9a}});
}
TEST_CASE("special: sqrt.approx.ftz.f32 is that of an H200", "[simt][special]") {
  check(special_root, {{false, -127, 0x53c1b9321ec00000},
                       {false, 0, 0xab683b8fe0cc2c0c},
                       {false, 1, 0x6679a33929615277},
                       {true, 1, 0xd9fea18fd6c00000},
                       {false, 128, 0x98a0665f4b8a7c15}});
}
TEST_CASE("special: lg2.approx.ftz.f32 is that of an H200", "[simt][special]") {
  check(special_logarithm, {{false, -126, 0x1c0a92587780a116},
                            {false, -2, 0x3f13fd0834107c00},
                            {false, -1, 0x434424476555b2bc},
                            {false, 0, 0xff8ebf01d244aec7},
                            {false, 1, 0x74e94617796f8400},
                            {false, 127, 0x4df42dc245ff5eea}});
}

// The square keeps products of two bits whose weight is at least 2^19 (of 17 bits) or 2^17 (of 16 bits).
TEST_CASE("special: the cut square leaves out the low columns alone", "[simt][special]") {
  const auto plainly = [](std::uint32_t x, int bits, int cut) {
    u64 sum = 0;
    for (int i = 0; i < bits; ++i)
      for (int j = 0; j <= i; ++j)
        if ((x >> i & x >> j & 1) != 0 && i + j + (i != j) >= cut) sum += u64{1} << (i + j + (i != j));
    return sum >> cut;
  };
  for (std::uint32_t x = 0; x < 1u << 17; x += 7) {
    REQUIRE(cut_square<17>(x) == plainly(x, 17, 19));
    if (x < 1u << 16) REQUIRE(cut_square<16>(x) == plainly(x, 16, 17));
  }
}

}  // namespace
