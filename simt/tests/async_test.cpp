// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "simt_testing.hpp"

namespace {

using namespace simt::device;
using namespace simt::testing;
using simt::Finding;
using simt::Order;

template <class Kernel, class... Args>
void run_shared(Kernel kernel, unsigned threads, std::size_t shared_bytes, Args... args) {
  launch(kernel, {.grid = dim3(1), .block = dim3(threads), .shared_bytes = shared_bytes}, nullptr, args...);
}

// The finding of one block with 1 KiB of shared memory, of the same kind in every order.
template <class Kernel, class... Args>
Finding found(Kernel kernel, unsigned threads, Args... args) {
  Finding first;
  for (const Order order : kOrders) {
    const Configured configured({.order = order, .seed = 3, .time_limit_s = 5});
    const Finding f = finding_of([&] { run_shared(kernel, threads, 1024, args...); });
    if (order != Order::forward) CHECK(f.kind == first.kind);
    if (order == Order::forward) first = f;
  }
  return first;
}

// Copies all of x through shared memory, `Depth` groups of one row a thread ahead.
template <int Bytes, int Depth>
void pipeline(const unsigned char* x, unsigned char* y, int rows) {
  auto* stage = shared_memory<unsigned char>();
  const int at = static_cast<int>(threadIdx.x) * Bytes, row_bytes = static_cast<int>(blockDim.x) * Bytes;
  const auto issue = [&](int row) {
    if (row < rows) cp_async<Bytes>(stage + row % (Depth + 1) * row_bytes + at, x + row * row_bytes + at);
    cp_async_commit();
  };
  for (int row = 0; row < Depth; ++row) issue(row);
  for (int row = 0; row < rows; ++row) {
    issue(row + Depth);
    cp_async_wait<Depth>();
    sync_block();
    const int other = row_bytes - Bytes - at;  // what another thread copied
    for (int i = 0; i < Bytes; i += 4)
      st(reinterpret_cast<unsigned*>(y + row * row_bytes + other + i),
         ld(reinterpret_cast<unsigned*>(stage + row % (Depth + 1) * row_bytes + other + i)));
    sync_block();
  }
}

template <int Bytes, int Depth>
void check_pipeline() {
  constexpr int kRows = 37, kThreads = 64;
  for (const Order order : kOrders) {
    const Configured configured({.order = order, .seed = 8});
    const Buffer<unsigned char> x(kRows * kThreads * Bytes), y(kRows * kThreads * Bytes);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<unsigned char>(i * 31 + i / 256);
    run_shared(pipeline<Bytes, Depth>, kThreads, (Depth + 1) * kThreads * Bytes, x.get(), y.get(), kRows);
    unsigned wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) wrong += x[i] != y[i];
    CHECK(wrong == 0);
    CHECK(x.counts().read_bytes == x.size());
    CHECK(x.counts().unique_read_bytes == x.size());
  }
}

}  // namespace

TEST_CASE("pipelines of asynchronous copies, of every size and depth", "[simt]") {
  check_pipeline<4, 1>();
  check_pipeline<8, 2>();
  check_pipeline<16, 0>();
  check_pipeline<16, 3>();
}

TEST_CASE("bytes beyond the valid ones become zero and are not read", "[simt]") {
  const auto kernel = +[](const unsigned char* x, unsigned char* y, int valid) {
    auto* s = shared_memory<unsigned char>();
    cp_async<16>(s, x, valid);
    cp_async<8>(s + 16, x, valid < 8 ? valid : 8);
    cp_async<4>(s + 24, x, valid < 4 ? valid : 4);
    cp_async_commit();
    cp_async_wait<0>();
    for (int i = 0; i < 28; ++i) st(y + i, ld(s + i));
  };
  for (int valid = 0; valid <= 16; ++valid)
    for (const Order order : kOrders) {
      const Configured configured({.order = order, .seed = 1});
      const Buffer<unsigned char> x(static_cast<std::size_t>(valid), "x"), y(28);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<unsigned char>(i + 1);
      run_shared(kernel, 1, 32, x.get(), y.get(), valid);
      unsigned wrong = 0;
      for (int i = 0; i < 28; ++i) {
        const int j = i < 16 ? i : i < 24 ? i - 16 : i - 24;
        wrong += y[static_cast<std::size_t>(i)] != (j < valid ? j + 1 : 0);
      }
      CHECK(wrong == 0);
      CHECK(x.counts().unique_read_bytes == static_cast<unsigned>(valid));
      CHECK(x.counts().read_bytes == static_cast<unsigned>(valid + std::min(valid, 8) + std::min(valid, 4)));
    }
}

TEST_CASE("what a copy is still writing may not be touched", "[simt]") {
  const Buffer<float> x(64), y(64);
  const auto no_wait = +[](const float* p, float* q) {
    auto* s = shared_memory<float>();
    cp_async<4>(s + threadIdx.x, p + threadIdx.x);
    cp_async_commit();
    sync_block();
    st(q + threadIdx.x, ld(s + (threadIdx.x ^ 1)));
  };
  const Finding f = found(no_wait, 64, x.get(), y.get());
  CHECK(f.kind == "in_flight");
  CHECK(says(f, "read of 4 bytes at byte"));
  CHECK(says(f, "async_test.cpp:"));
  CHECK(f.line == __LINE__ - 6);
}
