// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "simt_testing.hpp"

namespace {

using namespace simt::device;
using namespace simt::testing;
using simt::Counts;

constexpr unsigned kThreads = 96, kGrid = 4, kAll = kThreads * kGrid, kWarps = kAll / 32;

void strided(const float* x, float* y, int stride) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  st(y + i, ld(x + i * static_cast<unsigned>(stride)));
}

void twice_one_line(const float* x, const float* y, float* z) {
  const unsigned i = threadIdx.x;
  st(z + i, ld(x + i) + ld(y + i) + ld(x + i));
}

// Lane l reads elements l*n .. l*n + n-1, so every request touches one sector a lane.
void row_a_thread(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += ld(x + threadIdx.x * static_cast<unsigned>(n) + i);
  st(y + threadIdx.x, sum);
}

template <class T>
void copy(const T* x, T* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  st(y + i, ld(x + i));
}

}  // namespace

TEST_CASE("strided and coalesced reads are counted alike in every order", "[simt]") {
  for (const simt::ThreadOrder order : kOrders)
    for (const int stride : {0, 1, 2, 8, 32}) {
      const Configured configured({.order = order, .seed = 3, .count_sectors = true});
      const Buffer<float> x(kAll * 32), y(kAll);
      launch(strided, {.grid = dim3(kGrid), .block = dim3(kThreads)}, nullptr, x.get(), y.get(), stride);
      const Counts in = x.counts(), out = y.counts();
      CAPTURE(static_cast<int>(order), stride);
      CHECK(in.read_bytes == kAll * 4);
      CHECK(in.unique_read_bytes == (stride == 0 ? 4 : kAll * 4));
      CHECK(in.read_requests == kWarps);
      CHECK(in.read_sectors == kWarps * (stride == 0 ? 1u : stride == 1 ? 4u : stride == 2 ? 8u : 32u));
      CHECK(in.written_bytes + in.unique_written_bytes + in.written_requests + in.written_sectors == 0);
      CHECK(out.written_bytes == kAll * 4);
      CHECK(out.unique_written_bytes == kAll * 4);
      CHECK(out.written_requests == kWarps);
      CHECK(out.written_sectors == kWarps * 4);
    }
}

TEST_CASE("an allocation that starts within a sector moves one more sector a warp", "[simt]") {
  const Configured configured({.count_sectors = true});
  const Buffer<float> x(64, "x", 4), y(64, "y");
  run_block(copy<float>, 64, x.get(), y.get());
  CHECK(x.counts().read_sectors == 2 * 5);
  CHECK(y.counts().written_sectors == 2 * 4);
}

TEST_CASE("the number of sectors follows from the size of the elements", "[simt]") {
  const Configured configured({.count_sectors = true});
  const auto sectors = [](auto element) {
    using T = decltype(element);
    const Buffer<T> x(32), y(32);
    run_block(copy<T>, 32, x.get(), y.get());
    CHECK(x.counts().unique_read_bytes == 32 * sizeof(T));
    return x.counts().read_sectors;
  };
  CHECK(sectors(std::uint8_t{}) == 1);
  CHECK(sectors(half{}) == 2);
  CHECK(sectors(float{}) == 4);
  CHECK(sectors(double{}) == 8);
  CHECK(sectors(Vec<half, 8>{}) == 16);
}

TEST_CASE("two loads on one line are two requests", "[simt]") {
  for (const simt::ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .count_sectors = true});
    const Buffer<float> x(32), y(32), z(32);
    run_block(twice_one_line, 32, x.get(), y.get(), z.get());
    CHECK(x.counts().read_requests == 2);
    CHECK(x.counts().read_sectors == 8);
    CHECK(y.counts().read_requests == 1);
  }
}

TEST_CASE("a loop's executions are separate requests, however the lanes take turns", "[simt]") {
  for (const simt::ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .seed = 5, .count_sectors = true});
    constexpr int n = 9000;  // more accesses a thread than one turn allows
    const Buffer<float> x(64 * n), y(64);
    run_block(row_a_thread, 64, x.get(), y.get(), n);
    const Counts c = x.counts();
    CHECK(c.read_requests == 2 * n);
    CHECK(c.read_sectors == 64 * n);
    CHECK(c.unique_read_bytes == 64 * n * 4);
  }
}

TEST_CASE("a partial last warp makes one request of the lanes that it has", "[simt]") {
  const Configured configured({.count_sectors = true});
  const Buffer<float> x(40), y(40);
  run_block(copy<float>, 40, x.get(), y.get());
  CHECK(x.counts().read_requests == 2);
  CHECK(x.counts().read_sectors == 5);
}

TEST_CASE("repeated reads count again and unique bytes do not; a reset clears both", "[simt]") {
  const Buffer<float> x(64), y(64);
  for (int i = 0; i < 3; ++i) run_block(copy<float>, 48, x.get(), y.get());
  CHECK(x.counts().read_bytes == 3 * 48 * 4);
  CHECK(x.counts().unique_read_bytes == 48 * 4);
  CHECK(x.counts().read_requests == 0);  // not counted without count_sectors
  simt::reset_counts();
  CHECK(x.counts().read_bytes == 0);
  CHECK(x.counts().unique_read_bytes == 0);
  run_block(copy<float>, 1, x.get(), y.get());
  CHECK(x.counts().unique_read_bytes == 4);
}

TEST_CASE("a reset clears the counts of large allocations too", "[simt]") {
  const Buffer<std::uint8_t> x(5'000'001, "large", 3), y(5'000'001);
  const auto sweep = +[](const std::uint8_t* p, long n) {
    for (long i = threadIdx.x; i < n; i += blockDim.x) ld(p + i);
  };
  for (int i = 0; i < 2; ++i) {
    run_block(sweep, 32, x.get(), 5'000'001L);
    CHECK(x.counts().unique_read_bytes == 5'000'001);
    simt::reset_counts();
    CHECK(x.counts().unique_read_bytes == 0);
  }
}

TEST_CASE("atomics count as a read and a write", "[simt]") {
  for (const simt::ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .count_sectors = true});
    const Buffer<unsigned> sum(1);
    const auto kernel = +[](unsigned* p) { atomic_add(p, threadIdx.x); };
    launch(kernel, {.grid = dim3(5), .block = dim3(64)}, nullptr, sum.get());
    CHECK(sum[0] == 5 * 63 * 64 / 2);
    CHECK(sum.counts().read_bytes == 5 * 64 * 4);
    CHECK(sum.counts().written_requests == 10);
    CHECK(sum.counts().written_sectors == 10);
  }
}

TEST_CASE("atomic sums of floats flush subnormals in global memory, not in shared memory", "[simt]") {
  constexpr float kLeast = 0x1p-126f;
  const Buffer<float> global(3), shared(1);
  const auto kernel = +[](float* sums, float* of_shared) {
    for (int i = 0; i < 3; ++i) st(sums + i, i == 2 ? 1.5f * kLeast : 0.0f);
    atomic_add(sums, 0.75f * kLeast);  // a subnormal term
    atomic_add(sums + 1, -0.75f * kLeast);
    atomic_add(sums + 2, -kLeast);  // a subnormal result
    float* const mine = shared_memory<float>();
    st(mine, 0.75f * kLeast);
    atomic_add(mine, -0.25f * kLeast);
    st(of_shared, ld(mine));
  };
  launch(kernel, {.grid = dim3(1), .block = dim3(1), .shared_bytes = 4}, nullptr, global.get(), shared.get());
  for (int i = 0; i < 3; ++i) CHECK(global[i] == 0);
  CHECK(shared[0] == 0.5f * kLeast);
}

TEST_CASE("host pointers have no counts", "[simt]") {
  int on_host = 0;
  CHECK_THROWS_AS(simt::counts(&on_host), std::invalid_argument);
}

TEST_CASE("the canary passes and leaves the options alone", "[simt]") {
  const Configured configured({.order = simt::ThreadOrder::reverse});
  CHECK_NOTHROW(simt::canary());
  const Buffer<unsigned> first(1);
  run_block(
      +[](unsigned* p) {
        if (ld(p) == 0) st(p, threadIdx.x + 1);
      },
      32, first.get());
  CHECK(first[0] == 32);
}
