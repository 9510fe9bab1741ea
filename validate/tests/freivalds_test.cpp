// SPDX-License-Identifier: Apache-2.0
// Freivalds' check on trial: right products pass, products with little wrong do not.
#include "validate/ops/freivalds.hpp"

#include "catch_shim.hpp"

namespace assay {

TEST_CASE("freivalds: right products pass for many seeds; one wrong element, or two that cancel, are seen") {
  constexpr std::int64_t kTokens = 37, kHidden = 65, kOut = 301;
  std::vector<double> x(kTokens * kHidden), w(kOut * kHidden), b(kOut), y(kTokens * kOut);
  const auto draw = [](std::vector<double>& v, std::uint64_t tensor) {
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i] = round_to(f16, random::normal(random::key(5, tensor, random::Purpose::value), i));
  };
  draw(x, 0), draw(w, 1), draw(b, 2);
  for (std::int64_t t = 0; t < kTokens; ++t)
    for (std::int64_t o = 0; o < kOut; ++o) {
      double sum = b[o];
      for (std::int64_t h = 0; h < kHidden; ++h) sum += x[t * kHidden + h] * w[o * kHidden + h];
      y[t * kOut + o] = round_to(f16, sum);
    }
  const auto tensor = [](std::vector<double>& v, std::int64_t rows, std::int64_t cols) {
    return Tensor{.data = v.data(), .dtype = f64, .rank = 2, .shape = {rows, cols}, .stride = {cols, 1}};
  };
  std::vector<std::byte> stored(y.size() * 2);
  Tensor got{.data = stored.data(), .dtype = f16, .rank = 2, .shape = {kTokens, kOut}, .stride = {kOut, 1}};
  const Tensor bias{.data = b.data(), .dtype = f64, .rank = 1, .shape = {kOut}, .stride = {1}};
  const auto margin = [&](std::uint64_t seed) {
    return freivalds_margin(tensor(x, kTokens, kHidden), tensor(w, kOut, kHidden), bias, got, {.mma_terms = 8}, seed);
  };
  const auto store = [&] {
    for (std::size_t i = 0; i < y.size(); ++i) got.set(static_cast<std::int64_t>(i), y[i]);
  };
  store();
  for (std::uint64_t seed = 0; seed < 50; ++seed) CHECK(margin(seed) < 1);
  CHECK(margin(1) > 0.01);

  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    store();
    got.set(7 * kOut + 11, y[7 * kOut + 11] + 4);  // of sums of deviation 8
    CHECK(margin(seed) > 1);
    got.set(7 * kOut + 12, y[7 * kOut + 12] - 4);
    CHECK(margin(seed) > 1);
  }
  store();
  for (std::int64_t o = 128; o < 256; ++o) got.set(30 * kOut + o, 0);
  CHECK(margin(3) > 5);
  got.set(2, std::nan(""));
  CHECK(std::isinf(margin(3)));
}

}  // namespace assay
