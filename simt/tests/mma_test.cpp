// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <vector>

#include "simt_testing.hpp"

namespace {

using namespace simt::device;
using namespace simt::testing;
using simt::Finding;
using simt::Mma;
using simt::Order;

// d[16, 8] = a[16, K] b[K, 8] + c[16, 8] by one warp, the fragments read from row-major matrices.
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
    for (const Order order : kOrders) {
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

}  // namespace

TEST_CASE("a product of small integers, by every fragment", "[simt]") {
  small_integers<half, 16>();
  small_integers<bfloat16, 16>();
  small_integers<half, 8>();
  small_integers<bfloat16, 8>();
}
