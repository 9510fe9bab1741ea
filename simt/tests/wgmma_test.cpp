// SPDX-License-Identifier: Apache-2.0
// wgmma: exact results on small integers for every type, form of A and major; the bits of a chain of mma; impossible products.
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "device_hopper.hpp"
#include "simt_testing.hpp"

namespace {

using namespace simt::device;
using namespace simt::testing;
using simt::Finding;
using simt::ThreadOrder;

constexpr int kRowsOfA = 64, kBytes = 64 * 1024, kBytesA = 8 * 1024;

// Offset of byte `byte` of row `row` of a tile whose rows of 128 bytes are swizzled.
__attribute__((always_inline)) inline unsigned swizzled(int row, int byte) {
  return static_cast<unsigned>(row * 128 + (byte ^ (row & 7) << 4));
}

// d[64, N] = c + a[64, k] b[N, k]^T in four steps; k takes 128 bytes.  Only 16-bit types may have m or n innermost.
template <class T, int N, bool kRegisters, bool kA, bool kB>
void one_product(const T* a, const T* b, const float* c, float* d) {
  constexpr int kSize = static_cast<int>(sizeof(T)), kK = 128 / kSize;
  unsigned char* const memory = box_memory<unsigned char>();
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, g = lane_id() / 4, t = lane_id() % 4;
  // With m or n innermost, a row of 128 bytes holds 64 values of m or n, and the rows of 64 k are contiguous.
  const auto put = [&](unsigned char* tile, const T* from, int rows, bool mn) {
    for (int i = thread; i < rows * kK; i += 128) {
      const int r = i / kK, k = i % kK;
      const unsigned at = mn ? static_cast<unsigned>(r / 64 * 8192) + swizzled(k, r % 64 * kSize) : swizzled(r, k * kSize);
      st(reinterpret_cast<T*>(tile + at), ld(from + i));
    }
  };
  put(memory, a, kRowsOfA, kA);
  put(memory + kBytesA, b, N, kB);
  fence_shared_async();
  sync_block();
  float acc[N / 2];
  const auto at = [&](int i) { return (warp * 16 + g + 8 * (i / 2 % 2)) * N + i / 4 * 8 + 2 * t + i % 2; };
  for (int i = 0; i < N / 2; ++i) acc[i] = ld(c + at(i));
  const auto of_b = [&](int j) {
    if constexpr (kB) return mn_major<T>(memory + kBytesA, 8192).plus(2048 * j);
    else return k_major<T>(memory + kBytesA).plus(32 * j);
  };
  wgmma_begin();
  for (int j = 0; j < 4; ++j) {
    if constexpr (kRegisters) {
      unsigned words[4];
      for (int i = 0; i < 4; ++i) {
        const T* from = a + (warp * 16 + g + 8 * (i % 2)) * kK + (32 * j + 16 * (i / 2)) / kSize + t * 4 / kSize;
        words[i] = ld(reinterpret_cast<const unsigned*>(from));
      }
      wgmma<T>(acc, words, of_b(j), true);
    } else if constexpr (kA) {
      wgmma<T>(acc, mn_major<T>(memory, 8192).plus(2048 * j), of_b(j), true);
    } else {
      wgmma<T>(acc, k_major<T>(memory).plus(32 * j), of_b(j), true);
    }
  }
  wgmma_commit();
  wgmma_wait<0>(acc);
  for (int i = 0; i < N / 2; ++i) st(d + at(i), acc[i]);
}

template <class T>
T value(float v) {
  if constexpr (std::is_same_v<T, tf32>) return {v};
  else return from_float<T>(v);
}

template <class T, int N, bool kRegisters, bool kA, bool kB>
void small_integers() {
  constexpr std::size_t kK = 128 / sizeof(T);
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .seed = 5, .watch = true});
    const Buffer<T> a(kRowsOfA * kK), b(N * kK);
    const Buffer<float> c(kRowsOfA * N), d(kRowsOfA * N);
    const auto of_a = [](std::size_t i) { return static_cast<float>(i * 7 % 11) - 5; };
    const auto of_b = [](std::size_t i) { return static_cast<float>((i * 5 + i / kK) % 13) - 6; };
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = value<T>(of_a(i));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = value<T>(of_b(i));
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i % 100);
    const Finding f = finding_of([&] {
      launch(one_product<T, N, kRegisters, kA, kB>, {.grid = dim3(1), .block = dim3(128), .shared_bytes = kBytes}, nullptr,
             a.get(), b.get(), c.get(), d.get());
    });
    INFO(f.message);
    CHECK(f.kind == "none");
    unsigned wrong = 0;
    for (std::size_t m = 0; m < kRowsOfA; ++m)
      for (std::size_t n = 0; n < N; ++n) {
        float want = c[m * N + n];
        for (std::size_t k = 0; k < kK; ++k) want += of_a(m * kK + k) * of_b(n * kK + k);
        wrong += d[m * N + n] != want;
      }
    CHECK(wrong == 0);
  }
}

// Runs one block with 64 KiB of shared memory in every order; checks that the findings are of one kind and returns the first.
Finding found(void (*kernel)(), unsigned threads = 128) {
  Finding first;
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .seed = 3, .time_limit_s = kHang_s});
    const Finding f =
        finding_of([&] { launch(kernel, {.grid = dim3(1), .block = dim3(threads), .shared_bytes = kBytes}, nullptr); });
    INFO(f.message);
    if (order != ThreadOrder::forward) CHECK(f.kind == first.kind);
    if (order == ThreadOrder::forward) first = f;
  }
  return first;
}

template <int kStartA, int kStartB>
void product_at() {
  float acc[32] = {};
  wgmma_begin();
  wgmma<half>(acc, k_major<half>(box_memory<char>(kStartA)), k_major<half>(box_memory<char>(kStartB)), true);
  wgmma_commit();
  wgmma_wait<0>(acc);
}

}  // namespace

TEST_CASE("wgmma of small integers is exact, for every type, form of A and major", "[simt][hopper]") {
  small_integers<half, 8, false, false, false>();
  small_integers<half, 64, false, false, false>();
  small_integers<half, 168, false, false, false>();
  small_integers<half, 256, true, false, false>();
  small_integers<half, 128, false, true, false>();
  small_integers<half, 128, false, false, true>();
  small_integers<half, 192, false, true, true>();
  small_integers<half, 64, true, false, true>();
  small_integers<bfloat16, 96, false, false, false>();
  small_integers<bfloat16, 64, true, true, true>();
  small_integers<tf32, 64, false, false, false>();
  small_integers<tf32, 24, true, false, false>();
}

TEST_CASE("wgmma gives the bits of a chain of mma, also where it skips zeros", "[simt][hopper]") {
  const auto kernel = +[](const half* a, const half* b, const float* c, float* d) {
    const int warp = warp_id(), g = lane_id() / 4, t = lane_id() % 4;
    for (int n = 0; n < 8; ++n) {
      float acc[4];
      const auto at = [&](int i) { return (warp * 16 + g + 8 * (i / 2)) * 64 + n * 8 + 2 * t + i % 2; };
      for (int i = 0; i < 4; ++i) acc[i] = ld(c + at(i));
      for (int j = 0; j < 4; ++j) {
        unsigned of_a[4], of_b[2];
        const auto word = [](const half* p) { return ld(reinterpret_cast<const unsigned*>(p)); };
        for (int i = 0; i < 4; ++i) of_a[i] = word(a + (warp * 16 + g + 8 * (i % 2)) * 64 + 16 * j + 2 * t + 8 * (i / 2));
        for (int i = 0; i < 2; ++i) of_b[i] = word(b + (n * 8 + g) * 64 + 16 * j + 2 * t + 8 * i);
        mma_m16n8k16<half>(acc, of_a, of_b);
      }
      for (int i = 0; i < 4; ++i) st(d + at(i), acc[i]);
    }
  };
  const Buffer<half> a(64 * 64), b(64 * 64);
  const Buffer<float> c(64 * 64), d(64 * 64), e(64 * 64);
  std::uint64_t state = 9;
  const auto next = [&] {
    return static_cast<std::uint32_t>((state = state * 6364136223846793005u + 1442695040888963407u) >> 33);
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool zero_a = i / 64 >= 48 || (i / 64 >= 32 && i % 64 < 48), zero_b = i / 64 >= 40;  // whole tiles of ±0
    a[i].bits = static_cast<std::uint16_t>(zero_a ? next() & 0x8000u : next());
    b[i].bits = static_cast<std::uint16_t>(zero_b ? next() & 0x8000u : (next() & 0xbfffu));
    if (zero_a) a[i].bits &= 0x8000u;
    c[i] = i % 5 == 0 ? -0.0f : std::bit_cast<float>(next() << 1 & 0xbfffffffu);
  }
  launch(one_product<half, 64, false, false, false>, {.grid = dim3(1), .block = dim3(128), .shared_bytes = kBytes}, nullptr,
         a.get(), b.get(), c.get(), d.get());
  launch(kernel, {.grid = dim3(1), .block = dim3(128), .shared_bytes = 0}, nullptr, a.get(), b.get(), c.get(), e.get());
  unsigned wrong = 0, finite = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    wrong += std::bit_cast<std::uint32_t>(d[i]) != std::bit_cast<std::uint32_t>(e[i]);
    finite += std::isfinite(d[i]);
  }
  CHECK(wrong == 0);
  CHECK(finite > d.size() / 4);
  CHECK(finite < d.size());
}

TEST_CASE("accumulators are NaN until wgmma_wait", "[simt][hopper]") {
  const auto kernel = +[](float* early, float* late) {
    float acc[32] = {};
    for (int i = static_cast<int>(threadIdx.x); i < kBytes / 4; i += 128) st(box_memory<unsigned>() + i, 0u);
    fence_shared_async();
    sync_block();
    wgmma_begin();
    wgmma<half>(acc, k_major<half>(box_memory<char>()), k_major<half>(box_memory<char>(kBytesA)), true);
    wgmma_commit();
    st(early + threadIdx.x, acc[5]);
    wgmma_wait<0>(acc);
    st(late + threadIdx.x, acc[5]);
  };
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .seed = 1, .watch = true});
    const Buffer<float> early(128), late(128);
    launch(kernel, {.grid = dim3(1), .block = dim3(128), .shared_bytes = kBytes}, nullptr, early.get(), late.get());
    unsigned nan = 0, zero = 0;
    for (std::size_t i = 0; i < 128; ++i) {
      nan += std::isnan(early[i]);
      zero += late[i] == 0;
    }
    CHECK(nan == 128);
    CHECK(zero == 128);
  }
}

TEST_CASE("impossible products are findings", "[simt][hopper]") {
  CHECK(found(product_at<0, kBytesA>).kind == "none");
  CHECK(found(product_at<96, kBytesA + 32>).kind == "none");
  CHECK(found(product_at<112, kBytesA>).kind == "bad_descriptor");
  CHECK(found(product_at<128, kBytesA>).kind == "bad_descriptor");
  CHECK(found(product_at<0, kBytes - 4096>).kind == "bad_descriptor");
  CHECK(found(product_at<0, kBytesA>, 192).kind == "bad_mma");
  CHECK(found(+[] {
          if (warp_id() != 2) product_at<0, kBytesA>();
        }).kind == "deadlock");
  const auto different = +[] {
    float acc[32] = {};
    wgmma_begin();
    wgmma<half>(acc, k_major<half>(box_memory<char>()), k_major<half>(box_memory<char>(kBytesA)).plus(warp_id() == 3 ? 32 : 0),
                true);
    wgmma_commit();
    wgmma_wait<0>(acc);
  };
  CHECK(says(found(different), "descriptors are not the same in all lanes"));
  const auto unswizzled = +[] {
    float acc[32] = {};
    wgmma_begin();
    wgmma<half>(acc, k_major<half>(box_memory<char>()), SharedMatrix<half, false>{std::uint64_t{64} << 32}, true);
  };
  CHECK(says(found(unswizzled), "B of a wgmma: tiles without a swizzle are not simulated"));
  const auto overwritten = +[] {
    float acc[32] = {};
    wgmma_begin();
    wgmma<half>(acc, k_major<half>(box_memory<char>()), k_major<half>(box_memory<char>(kBytesA)), true);
    wgmma_commit();
    st(box_memory<char>(kBytesA + 1024 + threadIdx.x % 32), 'x');
    wgmma_wait<0>(acc);
  };
  CHECK(found(overwritten).kind == "wgmma_reads");
  const auto beside = +[] {
    float acc[32] = {};
    wgmma_begin();
    wgmma<half>(acc, k_major<half>(box_memory<char>()), k_major<half>(box_memory<char>(kBytesA)), true);
    wgmma_commit();
    st(box_memory<char>(kBytesA + 1024 + 32 + threadIdx.x % 32), 'x');
    st(box_memory<char>(kBytesA + 8192), 'x');
    wgmma_wait<0>(acc);
  };
  CHECK(found(beside).kind == "none");
}
