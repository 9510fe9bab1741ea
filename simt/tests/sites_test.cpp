// SPDX-License-Identifier: Apache-2.0
// Bytes, requests, sectors and bank wavefronts by call, against figures that follow from the kernel's source, in three orders;
// and the cost of watching an access.
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "simt_testing.hpp"

namespace {

using namespace simt::device;
using namespace simt::testing;
using simt::SiteCounts;

int x_thread() { return static_cast<int>(threadIdx.x); }
int y_thread() { return static_cast<int>(threadIdx.y); }
int y_size() { return static_cast<int>(blockDim.y); }

// Counts of one allocation in one direction, summed over all calls.
SiteCounts moved(const std::string& allocation, bool write) {
  SiteCounts sum;
  for (const SiteCounts& s : simt::site_counts())
    if (s.allocation == allocation && s.write == write) {
      sum.bytes += s.bytes;
      sum.requests += s.requests;
      sum.sectors += s.sectors;
      sum.wavefronts += s.wavefronts;
      sum.file = s.file;
      sum.line = s.line;
    }
  return sum;
}
void check(const std::string& allocation, bool write, std::uint64_t bytes, std::uint64_t requests, std::uint64_t sectors,
           std::uint64_t wavefronts) {
  CAPTURE(allocation, write);
  const SiteCounts s = moved(allocation, write);
  CHECK(s.bytes == bytes);
  CHECK(s.requests == requests);
  CHECK(s.sectors == sectors);
  CHECK(s.wavefronts == wavefronts);
}

// Runs a watched launch in each of three orders, and checks after each.
template <class Launch, class Check>
void in_three_orders(Launch launching, Check checking) {
  for (const simt::ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .seed = 21, .count_sectors = true, .watch = true});
    simt::reset_counts();
    CAPTURE(static_cast<int>(order));
    CHECK(finding_of(launching).kind == "none");
    checking();
  }
}

// y = transpose of x, [n, n], by tiles of 32 x 32 with rows `pitch` floats apart; 8 rows of threads.
void transpose(const float* x, float* y, int n, int pitch) {
  float* tile = shared_memory<float>();
  const int column = static_cast<int>(blockIdx.x) * 32, row = static_cast<int>(blockIdx.y) * 32;
  for (int r = y_thread(); r < 32; r += 8) st(tile + r * pitch + x_thread(), ld(x + (row + r) * n + column + x_thread()));
  sync_block();
  for (int r = y_thread(); r < 32; r += 8) st(y + (column + r) * n + row + x_thread(), ld(tile + x_thread() * pitch + r));
}

// y = x / sqrt(sum x^2), one warp a row, twice over the row.
void row_norm(const float* x, float* y, int cols) {
  const int row = static_cast<int>(blockIdx.x) * y_size() + y_thread();
  float sum = 0;
  for (int c = x_thread(); c < cols; c += 32) sum += ld(x + row * cols + c) * ld(x + row * cols + c);
  for (int offset = 16; offset > 0; offset /= 2) sum += shuffle_xor(sum, offset);
  for (int c = x_thread(); c < cols; c += 32) st(y + row * cols + c, ld(x + row * cols + c) / sqrtf(sum));
}

// C = A B, [n, n], by tiles of 32 x 32, one thread an element.
void tiled_product(const float* a, const float* b, float* c, int n) {
  float* const a_tile = shared_memory<float>();
  float* const b_tile = a_tile + 32 * 32;
  const int row = static_cast<int>(blockIdx.y) * 32 + y_thread(), column = static_cast<int>(blockIdx.x) * 32 + x_thread();
  float sum = 0;
  for (int k = 0; k < n; k += 32) {
    st(a_tile + y_thread() * 32 + x_thread(), ld(a + row * n + k + x_thread()));
    st(b_tile + y_thread() * 32 + x_thread(), ld(b + (k + y_thread()) * n + column));
    sync_block();
    for (int i = 0; i < 32; ++i) sum += ld(a_tile + y_thread() * 32 + i) * ld(b_tile + i * 32 + x_thread());
    sync_block();
  }
  st(c + row * n + column, sum);
}

// O = softmax(Q K^T) V with 32 channels.  A warp takes one query; a lane computes scores of some keys, then one output channel.
// The `keys` weights of a warp pass through shared memory.
void attention(const float* q, const float* k, const float* v, float* o, int keys) {
  const int warps = y_size(), query = static_cast<int>(blockIdx.x) * warps + y_thread();
  float* const weights = shared_memory<float>() + y_thread() * keys;
  for (int key = x_thread(); key < keys; key += 32) {
    float score = 0;
    for (int c = 0; c < 32; ++c) score += ld(q + query * 32 + c) * ld(k + key * 32 + c);
    st(weights + key, expf(score));
  }
  sync_warp();
  float sum = 0, out = 0;
  for (int key = 0; key < keys; ++key) {
    const float w = ld(weights + key);
    sum += w;
    out += w * ld(v + key * 32 + x_thread());
  }
  st(o + query * 32 + x_thread(), out / sum);
}

}  // namespace

TEST_CASE("counts by call of a transpose, without and with a column of padding", "[simt][watch]") {
  constexpr unsigned n = 96, requests = n * n / 32;
  const Buffer<float> x(n * n, "x"), y(n * n, "y");
  for (const unsigned pitch : {32u, 33u})
    in_three_orders(
        [&] {
          launch(transpose, {.grid = dim3(n / 32, n / 32), .block = dim3(32, 8), .shared_bytes = 32 * pitch * 4}, nullptr,
                 x.get(), y.get(), static_cast<int>(n), static_cast<int>(pitch));
        },
        [&] {
          check("x", false, n * n * 4, requests, requests * 4, 0);
          check("y", true, n * n * 4, requests, requests * 4, 0);
          check("shared memory", true, n * n * 4, requests, 0, requests);
          check("shared memory", false, n * n * 4, requests, 0, requests * (pitch == 32 ? 32 : 1));
          CHECK(moved("x", false).file.find("sites_test.cpp") != std::string::npos);
          CHECK(moved("x", false).line == moved("shared memory", true).line);
          CHECK(moved("y", true).line == moved("x", false).line + 2);
        });
}

TEST_CASE("counts by call of a row norm", "[simt][watch]") {
  constexpr unsigned rows = 12, cols = 160, requests = rows * cols / 32;
  const Buffer<float> x(rows * cols, "x"), y(rows * cols, "y");
  in_three_orders(
      [&] {
        launch(row_norm, {.grid = dim3(rows / 4), .block = dim3(32, 4)}, nullptr, x.get(), y.get(), static_cast<int>(cols));
      },
      [&] {
        check("x", false, 3 * rows * cols * 4, 3 * requests, 3 * requests * 4, 0);
        check("y", true, rows * cols * 4, requests, requests * 4, 0);
      });
}

TEST_CASE("counts by call of a tiled matrix product", "[simt][watch]") {
  constexpr unsigned n = 64, tiles = n / 32, warps = 32 * tiles * tiles;
  const Buffer<float> a(n * n, "a"), b(n * n, "b"), c(n * n, "c");
  in_three_orders(
      [&] {
        launch(tiled_product, {.grid = dim3(tiles, tiles), .block = dim3(32, 32), .shared_bytes = 2 * 32 * 32 * 4}, nullptr,
               a.get(), b.get(), c.get(), static_cast<int>(n));
      },
      [&] {
        check("a", false, n * n * tiles * 4, warps * tiles, warps * tiles * 4, 0);
        check("b", false, n * n * tiles * 4, warps * tiles, warps * tiles * 4, 0);
        check("c", true, n * n * 4, warps, warps * 4, 0);
        check("shared memory", true, 2 * n * n * tiles * 4, 2 * warps * tiles, 0, 2 * warps * tiles);
        // One element for all lanes, or 32 neighbours, take one wavefront.
        check("shared memory", false, std::uint64_t{2} * n * n * n * 4, 2 * warps * n, 0, 2 * warps * n);
      });
}

TEST_CASE("counts by call of attention", "[simt][watch]") {
  constexpr unsigned queries = 6, keys = 96, channels = 32;
  const Buffer<float> q(queries * channels, "q"), k(keys * channels, "k"), v(keys * channels, "v"), o(queries * channels, "o");
  in_three_orders(
      [&] {
        launch(attention, {.grid = dim3(queries / 2), .block = dim3(32, 2), .shared_bytes = 2 * keys * 4}, nullptr, q.get(),
               k.get(), v.get(), o.get(), static_cast<int>(keys));
      },
      [&] {
        constexpr std::uint64_t scores = queries * keys, warp_steps = scores / 32 * channels;
        check("q", false, scores * channels * 4, warp_steps, warp_steps, 0);       // one value to all lanes
        check("k", false, scores * channels * 4, warp_steps, warp_steps * 32, 0);  // a sector a lane
        check("v", false, scores * channels * 4, scores, scores * 4, 0);
        check("o", true, queries * channels * 4, queries, queries * 4, 0);
        check("shared memory", true, scores * 4, scores / 32, 0, scores / 32);
        check("shared memory", false, scores * 32 * 4, scores, 0, scores);
      });
}

TEST_CASE("the wavefronts of a request follow from the width and distance of its accesses", "[simt][watch]") {
  const auto wavefronts = [](auto element, int stride) {
    using T = decltype(element);
    const Configured configured({.count_sectors = true});
    simt::reset_counts();
    launch(
        +[](int apart) { st(shared_memory<T>() + x_thread() * apart, T{}); },
        {.grid = dim3(1), .block = dim3(32), .shared_bytes = 32 * 1024}, nullptr, stride);
    return moved("shared memory", true).wavefronts;
  };
  CHECK(wavefronts(std::uint8_t{}, 1) == 1);
  CHECK(wavefronts(half{}, 1) == 1);
  CHECK(wavefronts(half{}, 2) == 1);
  CHECK(wavefronts(half{}, 4) == 2);
  CHECK(wavefronts(float{}, 1) == 1);
  CHECK(wavefronts(float{}, 2) == 2);
  CHECK(wavefronts(float{}, 8) == 8);
  CHECK(wavefronts(float{}, 33) == 1);
  CHECK(wavefronts(double{}, 1) == 2);
  CHECK(wavefronts(double{}, 2) == 4);
  CHECK(wavefronts(Vec<float, 4>{}, 1) == 4);
  CHECK(wavefronts(Vec<float, 4>{}, 2) == 8);
  CHECK(wavefronts(Vec<float, 4>{}, 9) == 4);
}

TEST_CASE("the cost of watching an access", "[.cost]") {
  constexpr int n = 1024, times = 200;
  const Buffer<Vec<float, 4>> x(n, "x"), y(n, "y");
  const auto four = +[](const float* from, float* to, int) {
    float* s = shared_memory<float>();
    for (int t = 0; t < times; ++t)
      for (int i = x_thread(); i < 4 * n; i += 256) {
        st(s + i, ld(from + i));
        st(to + i, ld(s + i));
      }
  };
  const auto sixteen = +[](const float* from, float* to, int) {
    auto* s = shared_memory<Vec<float, 4>>();
    for (int t = 0; t < times; ++t)
      for (int i = x_thread(); i < n; i += 256) {
        st(s + i, ld(reinterpret_cast<const Vec<float, 4>*>(from) + i));
        st(reinterpret_cast<Vec<float, 4>*>(to) + i, ld(s + i));
      }
  };
  const auto broadcast = +[](const float* from, float* to, int) {
    float* s = shared_memory<float>();
    if (x_thread() == 0)
      for (int i = 0; i < 256; ++i) st(s + i, ld(from + i));
    sync_block();
    float sum = 0;
    for (int t = 0; t < 8 * times; ++t)
      for (int i = 0; i < 8; ++i) sum += ld(s + (t + i) % 256);
    st(to + x_thread(), sum);
  };
  const auto ns = [&](auto kernel, double accesses, const simt::Options& options) {
    const Configured configured(options);
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const std::clock_t start = std::clock();
      launch(kernel, {.grid = dim3(1), .block = dim3(256), .shared_bytes = n * 16}, nullptr,
             reinterpret_cast<const float*>(x.get()), reinterpret_cast<float*>(y.get()), 0);
      best = std::min(best, 1e9 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return best / accesses;
  };
  std::printf("ns of processor time an access: plain, watched, watched with sectors and banks\n");
  const auto row = [&](const char* name, auto kernel, double accesses) {
    std::printf("  %-34s %5.1f %5.1f %5.1f\n", name, ns(kernel, accesses, {}), ns(kernel, accesses, {.watch = true}),
                ns(kernel, accesses, {.count_sectors = true, .watch = true}));
  };
  row("4 bytes, global and shared", four, 4.0 * 4 * n * times);
  row("16 bytes, global and shared", sixteen, 4.0 * n * times);
  row("4 bytes, shared, to all threads", broadcast, 256.0 * 64 * times);
  CHECK(y[0][0] == x[0][0]);
}
