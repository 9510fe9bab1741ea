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
using simt::ThreadOrder;

template <class Kernel, class... Args>
void run_shared(Kernel kernel, unsigned threads, std::size_t shared_bytes, Args... args) {
  launch(kernel, {.grid = dim3(1), .block = dim3(threads), .shared_bytes = shared_bytes}, nullptr, args...);
}

// Runs one block with 1 KiB of shared memory in every order; checks that the findings are of one kind and returns the first.
template <class Kernel, class... Args>
Finding found(Kernel kernel, unsigned threads, Args... args) {
  Finding first;
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .seed = 3, .time_limit_s = kHang_s});
    const Finding f = finding_of([&] { run_shared(kernel, threads, 1024, args...); });
    if (order != ThreadOrder::forward) CHECK(f.kind == first.kind);
    if (order == ThreadOrder::forward) first = f;
  }
  return first;
}

// Copies x to y through shared memory, row by row, with `Depth` groups of one row each in flight ahead.
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
    const int other = row_bytes - Bytes - at;  // the bytes of another thread
    for (int i = 0; i < Bytes; i += 4)
      st(reinterpret_cast<unsigned*>(y + row * row_bytes + other + i),
         ld(reinterpret_cast<unsigned*>(stage + row % (Depth + 1) * row_bytes + other + i)));
    sync_block();
  }
}

template <int Bytes, int Depth>
void check_pipeline() {
  constexpr int kRows = 37, kThreads = 64;
  for (const ThreadOrder order : kOrders) {
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

TEST_CASE("pipelines of cp_async copy every byte, at every size and depth", "[simt]") {
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
    for (const ThreadOrder order : kOrders) {
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

TEST_CASE("an access to bytes that a copy may still be writing is a finding", "[simt]") {
  const Buffer<float> x(64), y(64);
  const auto no_wait = +[](const float* p, float* q) {
    auto* s = shared_memory<float>();
    cp_async<4>(s + threadIdx.x, p + threadIdx.x);
    cp_async_commit();
    sync_block();
    st(q + threadIdx.x, ld(s + (threadIdx.x ^ 1)));  // this line
  };
  const Finding f = found(no_wait, 64, x.get(), y.get());
  CHECK(f.kind == "in_flight");
  CHECK(says(f, "read of 4 bytes at byte 4 of shared memory, which a cp_async may still be writing"));
  CHECK(says(f, "(" + std::string(f.file) + ":" + std::to_string(f.line - 3) + ", of thread (1, 0, 0))"));
  CHECK(f.line == __LINE__ - 6);

  const auto writes = +[](const float* p) {
    cp_async<16>(shared_memory<float>() + 4 * threadIdx.x, p);
    st(shared_memory<char>() + 16 * threadIdx.x + 15, 'x');
  };
  CHECK(found(writes, 8, x.get()).kind == "in_flight");
  const auto beside = +[](const float* p) {
    cp_async<16>(shared_memory<float>() + 4, p);
    st(shared_memory<float>() + 3, 1.0f);
    st(shared_memory<Vec<float, 4>>() + 2, Vec<float, 4>{});
    st(shared_memory<char>() + 32 + threadIdx.x, 'x');
  };
  CHECK(found(beside, 1, x.get()).kind == "none");
  const auto reads_matrix = +[](const float* p) {
    if (lane_id() == 11) cp_async<4>(shared_memory<float>() + 13 * 4 + 3, p);
    cp_async_commit();
    unsigned r[2];
    ldmatrix<2>(r, shared_memory<half>() + lane_id() % 16 * 8);
  };
  CHECK(found(reads_matrix, 32, x.get()).kind == "in_flight");
  const auto twice = +[](const float* p) {
    cp_async<8>(shared_memory<float>() + 2 * (threadIdx.x / 2), p);
    cp_async_commit();
    cp_async_wait<1>();
  };
  CHECK(found(twice, 2, x.get()).kind == "in_flight");
}

TEST_CASE("cp_async_wait completes the older groups of the calling thread, and no other copy", "[simt]") {
  const Buffer<float> x(64);
  const auto newest = +[](const float* p, int read) {
    auto* s = shared_memory<float>();
    for (int i = 0; i < 4; ++i) {
      cp_async<4>(s + i, p);
      cp_async_commit();
    }
    cp_async_wait<2>();
    ld(s + read);
  };
  for (int read = 0; read < 4; ++read) CHECK(found(newest, 1, x.get(), read).kind == (read < 2 ? "none" : "in_flight"));
  const auto uncommitted = +[](const float* p, int read) {
    auto* s = shared_memory<float>();
    cp_async<4>(s, p);
    cp_async_commit();
    cp_async<4>(s + 1, p);
    cp_async_wait<0>();
    ld(s + read);
  };
  CHECK(found(uncommitted, 1, x.get(), 0).kind == "none");
  CHECK(found(uncommitted, 1, x.get(), 1).kind == "in_flight");
  const auto empty_groups = +[](const float* p) {
    cp_async<4>(shared_memory<float>(), p);
    for (int i = 0; i < 3; ++i) cp_async_commit();
    cp_async_wait<2>();
    ld(shared_memory<float>());
  };
  CHECK(found(empty_groups, 1, x.get()).kind == "none");
  const auto one_waits = +[](const float* p) {
    cp_async<4>(shared_memory<float>() + threadIdx.x, p);
    cp_async_commit();
    if (threadIdx.x != 3) cp_async_wait<0>();
    sync_block();
    ld(shared_memory<float>() + (threadIdx.x ^ 1));
  };
  CHECK(found(one_waits, 8, x.get()).kind == "in_flight");
}

TEST_CASE("a copy is made at the wait in forward order, at once in reverse, and by the seed when shuffled", "[simt]") {
  const auto kernel = +[](float* x, float* y) {
    auto* s = shared_memory<float>();
    for (int i = 0; i < 64; ++i) cp_async<4>(s + i, x + i);
    cp_async_commit();
    const float before = s[5];  // a plain read, which the machine does not check
    for (int i = 0; i < 64; ++i) st(x + i, 2.0f);
    cp_async_wait<0>();
    st(y + 64, before);
    for (int i = 0; i < 64; ++i) st(y + i, ld(s + i));
  };
  const auto late = [&](ThreadOrder order, std::uint64_t seed, float& before) {
    const Configured configured({.order = order, .seed = seed});
    const Buffer<float> x(64), y(65);
    for (std::size_t i = 0; i < 64; ++i) x[i] = 1;
    run_shared(kernel, 1, 256, x.get(), y.get());
    before = y[64];
    return std::count(y.get(), y.get() + 64, 2.0f);
  };
  float before = 0;
  CHECK(late(ThreadOrder::forward, 0, before) == 64);
  CHECK(std::isnan(before));
  CHECK(late(ThreadOrder::reverse, 0, before) == 0);
  CHECK(before == 1);
  const auto some = late(ThreadOrder::shuffle, 1, before), same = late(ThreadOrder::shuffle, 1, before),
             other = late(ThreadOrder::shuffle, 2, before);
  CHECK(some > 10);
  CHECK(some < 54);
  CHECK(same == some);
  CHECK(other != some);
}

TEST_CASE("a block may end with copies in flight, and the next one starts without them", "[simt]") {
  const Buffer<float> x(64), y(64);
  const auto kernel = +[](const float* p, float* q) {
    auto* s = shared_memory<float>();
    st(s + threadIdx.x, 1.0f);
    st(q + threadIdx.x, ld(s + threadIdx.x));
    cp_async<4>(s + threadIdx.x, p + threadIdx.x);
    if (threadIdx.x % 2) cp_async_commit();
  };
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order});
    CHECK(finding_of([&] {
            launch(kernel, {.grid = dim3(5), .block = dim3(64), .shared_bytes = 256}, nullptr, static_cast<const float*>(x.get()),
                   y.get());
          }).kind == "none");
  }
}

TEST_CASE("impossible copies are findings", "[simt]") {
  const Buffer<unsigned char> x(64, "x");
  const auto copy = +[](const unsigned char* p, int to, int from, int valid) {
    cp_async<16>(shared_memory<unsigned char>() + to, p + from, valid);
  };
  const auto kind = [&](int to, int from, int valid) { return found(copy, 1, x.get(), to, from, valid).kind; };
  CHECK(kind(1008, 48, 16) == "none");
  CHECK(kind(1000, 0, 16) == "misaligned");
  CHECK(kind(1024, 0, 16) == "shared_overflow");
  CHECK(kind(0, 8, 16) == "misaligned");
  CHECK(kind(0, 8, 4) == "misaligned");
  CHECK(kind(0, 64, 16) == "out_of_bounds");
  CHECK(kind(0, 64, 1) == "out_of_bounds");
  CHECK(kind(0, 64, 0) == "none");
  CHECK(kind(0, -16, 3) == "out_of_bounds");
  CHECK(kind(0, 0, 17) == "bad_copy");
  CHECK(kind(0, 0, -1) == "bad_copy");
  CHECK(says(found(copy, 1, x.get(), 0, 64, 5), "read of 5 bytes ending 5 bytes past the end of 'x' (64 bytes)"));
  CHECK(says(found(copy, 1, x.get(), 0, 8, 4), "not aligned to 16 bytes"));
  const auto to_global = +[](float* p) { cp_async<4>(p, p + 1); };
  CHECK(found(to_global, 1, reinterpret_cast<float*>(x.get())).kind == "bad_copy");
  const auto from_shared = +[](float*) { cp_async<4>(shared_memory<float>(), shared_memory<float>() + 1); };
  CHECK(found(from_shared, 1, static_cast<float*>(nullptr)).kind == "bad_copy");
}

TEST_CASE("a warp's cp_async is one request, of the sectors that it reads", "[simt]") {
  const auto kernel = +[](const float* p, int valid) {
    cp_async<16>(shared_memory<float>() + 4 * threadIdx.x, p + 4 * threadIdx.x, threadIdx.x == 63 ? valid : 16);
    cp_async_commit();
    cp_async_wait<0>();
    sync_block();
    st(shared_memory<float>() + threadIdx.x, 1.0f);
  };
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .seed = 5, .count_sectors = true});
    const Buffer<float> x(256);
    run_shared(kernel, 64, 1024, x.get(), 16);
    CHECK(x.counts().read_bytes == 1024);
    CHECK(x.counts().read_requests == 2);
    CHECK(x.counts().read_sectors == 32);
    simt::reset_counts();
    run_shared(kernel, 64, 1024, x.get(), 7);
    CHECK(x.counts().read_bytes == 1024 - 9);
    CHECK(x.counts().unique_read_bytes == 1024 - 9);
    CHECK(x.counts().read_requests == 2);
    CHECK(x.counts().read_sectors == 32);
  }
}

TEST_CASE("the time limit holds, and threads yield, while copies are in flight", "[simt]") {
  const Buffer<int> x(4);
  const auto waits_for_ever = +[](int* p) {
    cp_async<4>(shared_memory<int>(), p);
    while (ld(p + 1) == 0) {
    }
  };
  simt::configure({.time_limit_s = 0.2});
  CHECK(finding_of([&] { run_shared(waits_for_ever, 1, 64, x.get()); }).kind == "time_limit");
  const Configured configured({.time_limit_s = kHang_s});
  const auto lets_others_on = +[](int* p) {  // the second thread's store ends the first one's loop
    cp_async<4>(shared_memory<int>() + threadIdx.x, p);
    if (threadIdx.x == 0)
      while (ld(p + 1) == 0) {
      }
    else st(p + 1, 1);
  };
  CHECK(finding_of([&] { run_shared(lets_others_on, 2, 64, x.get()); }).kind == "none");
}
