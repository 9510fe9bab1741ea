// SPDX-License-Identifier: Apache-2.0
#include "validate/values/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "catch_shim.hpp"

using namespace assay::random;

TEST_CASE("random: the bits never change") {
  CHECK(bits(1234567, 0) == 6457827717110365317u);  // SplitMix64's published first output for this seed
  CHECK(mix(1) == 0x5692161d100b05e5);
  CHECK(hash("") == 0xf52a15e9a9b5e89b);
  CHECK(hash("layernorm_residual") == 0x864120450b161332);

  const std::uint64_t k = key(2026, 0, Purpose::value);
  CHECK(k == 0x64646b7cd4c5e3e1);
  CHECK(key(2026, 1, Purpose::value) == 0xf3d4cf3322eb3fb0);
  CHECK(key(2026, 0, Purpose::row) == 0x6531f89e8b6544ca);
  CHECK(bits(k, 0) == 0x5eb450ae86b81cb7);
  CHECK(bits(k, 1) == 0x6fa42e7d940e6468);
  CHECK(bits(k, 1ull << 40) == 0x381abf1085b501ba);
  CHECK(uniform(k, 0) == 0x1.7ad142ba1ae06p-2);
  CHECK(normal(k, 0) == -0x1.aebf19b978p-4);
  CHECK(normal(k, 1) == -0x1.72c9de484b8p+0);
  CHECK(normal(k, 1ull << 40) == 0x1.2967d633cbp-1);
  CHECK(index(k, 0, 1000003) == 168232);
  CHECK(index(k, 1ull << 40, 1000003) == 360679);
}

TEST_CASE("random: byte_sum adds eight bytes") {
  CHECK(byte_sum(0) == 0);
  CHECK(byte_sum(~0ull) == 8 * 255);
  CHECK(byte_sum(0x0102030405060708) == 36);
}

TEST_CASE("random: power_of_two is exact at both ends") {
  CHECK(power_of_two(0) == 1);
  CHECK(power_of_two(-1022) == 0x1p-1022);
  CHECK(power_of_two(1023) == 0x1p1023);
}

TEST_CASE("random: moments are those documented") {
  constexpr int kCount = 1 << 20;
  double n1 = 0, n2 = 0, n3 = 0, n4 = 0, u1 = 0, u2 = 0, neighbours = 0, largest = 0;
  const std::uint64_t k = key(7, 3, Purpose::value);
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double x = normal(k, i), u = uniform(k, i) - 0.5;
    n1 += x;
    n2 += x * x;
    n3 += x * x * x;
    n4 += x * x * x * x;
    u1 += u;
    u2 += u * u;
    neighbours += x * normal(k, i + 1);
    largest = std::max(largest, std::abs(x));
  }
  // Five standard errors of each mean over 2^20 draws: sigma / 1024.
  CHECK(std::abs(n1 / kCount) < 5.0 / 1024);
  CHECK(std::abs(n2 / kCount - 1) < 5 * 1.4 / 1024);
  CHECK(std::abs(n3 / kCount) < 5 * 3.7 / 1024);
  CHECK(std::abs(n4 / kCount - 2.9) < 5 * 9.0 / 1024);
  CHECK(std::abs(neighbours / kCount) < 5.0 / 1024);
  CHECK(std::abs(u1 / kCount) < 5 * 0.29 / 1024);
  CHECK(std::abs(u2 / kCount - 1.0 / 12) < 5 * 0.075 / 1024);
  CHECK(largest < 6);
}

TEST_CASE("random: normal values are no small integers") {
  const std::uint64_t k = key(7, 3, Purpose::value);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const double scaled = normal(k, i) * 0x1p30;
    CHECK(scaled != static_cast<double>(static_cast<long long>(scaled)));
  }
}

TEST_CASE("random: index reaches every value, and nothing else") {
  std::array<int, 7> seen{};
  for (std::uint64_t i = 0; i < 7000; ++i) ++seen.at(static_cast<std::size_t>(index(11, i, 7)));
  for (const int n : seen) CHECK(std::abs(n - 1000) < 150);
  CHECK(index(11, 5, 1) == 0);
}
