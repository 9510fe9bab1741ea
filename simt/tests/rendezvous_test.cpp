// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include "simt_testing.hpp"

namespace {

using namespace simt::device;
using namespace simt::testing;
using simt::Finding;
using simt::ThreadOrder;

// Returns one value from every thread of a block; checks that all orders agree.
template <class T, class Kernel>
std::vector<T> outcome(Kernel kernel, unsigned threads) {
  std::vector<T> result;
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .seed = 11});
    const Buffer<T> y(threads);
    run_block(kernel, threads, y.get());
    std::vector<T> got(y.get(), y.get() + threads);
    if (order != ThreadOrder::forward) CHECK(got == result);
    result = std::move(got);
  }
  return result;
}

template <class Kernel>
Finding finding_in(ThreadOrder order, Kernel kernel, unsigned threads) {
  const Configured configured({.order = order, .seed = 2, .time_limit_s = kHang_s});
  const Buffer<int> y(threads);
  return finding_of([&] { run_block(kernel, threads, y.get()); });
}

// Returns the kind of the finding; checks that all orders agree.
template <class Kernel>
std::string kind_of(Kernel kernel, unsigned threads) {
  const std::string kind = finding_in(ThreadOrder::forward, kernel, threads).kind;
  for (const ThreadOrder order : {ThreadOrder::reverse, ThreadOrder::shuffle})
    CHECK(finding_in(order, kernel, threads).kind == kind);
  return kind;
}

}  // namespace

TEST_CASE("each of the four shuffles reads from its source lane", "[simt]") {
  const auto exchanged = outcome<int>(
      +[](int* y) { st(y + threadIdx.x, shuffle_xor(static_cast<int>(threadIdx.x), 5)); }, 64);
  const auto down = outcome<int>(
      +[](int* y) { st(y + threadIdx.x, shuffle_down(static_cast<int>(threadIdx.x), 3)); }, 64);
  const auto up = outcome<int>(
      +[](int* y) { st(y + threadIdx.x, shuffle_up(static_cast<int>(threadIdx.x), 3)); }, 64);
  const auto from = outcome<int>(
      +[](int* y) { st(y + threadIdx.x, shuffle(static_cast<int>(threadIdx.x), 35)); }, 64);
  for (int i = 0; i < 64; ++i) {
    CHECK(exchanged[static_cast<std::size_t>(i)] == (i ^ 5));
    CHECK(down[static_cast<std::size_t>(i)] == (i % 32 + 3 < 32 ? i + 3 : i));
    CHECK(up[static_cast<std::size_t>(i)] == (i % 32 >= 3 ? i - 3 : i));
    CHECK(from[static_cast<std::size_t>(i)] == i / 32 * 32 + 3);
  }
}

TEST_CASE("shuffles move types of up to 8 bytes, and a source beyond the warp gives a lane its own value", "[simt]") {
  const auto kernel = +[](double* y) {
    const half h = shuffle_xor(from_float<half>(static_cast<float>(threadIdx.x)), 1);
    const double d = shuffle_xor(threadIdx.x * 0.1, 1);
    const float own = shuffle_down(1.0f, 0xfffffff0u) + shuffle_up(1.0f, 32) + shuffle_xor(1.0f, 32);
    st(y + threadIdx.x, d + static_cast<double>(to_float(h)) * 1000 + (own == 3.0f ? 0 : 1e9));
  };
  const auto y = outcome<double>(kernel, 32);
  for (unsigned i = 0; i < 32; ++i) CHECK(y[i] == (i ^ 1) * 0.1 + (i ^ 1) * 1000.0);
}

TEST_CASE("a butterfly sum is right, also in warps that shuffle unequally often", "[simt]") {
  const auto kernel = +[](int* y) {
    int v = 1;
    for (int round = 0; round <= warp_id(); ++round)
      for (int offset = 16; offset > 0; offset /= 2) v += shuffle_xor(v, offset);
    st(y + threadIdx.x, v);
  };
  const auto y = outcome<int>(kernel, 96);
  CHECK(y[0] == 32);
  CHECK(y[32] == 32 * 32);
  CHECK(y[95] == 32 * 32 * 32);
}

TEST_CASE("a butterfly gives every lane the bits that five shuffles give it", "[simt]") {
  const auto difference = +[](int* y) {
    const auto f = [](float a, float b) { return a * 0.75f - b; };  // gives another result in another order
    const float start = 1.0f / static_cast<float>(threadIdx.x + 3);
    float v = start;
    for (int offset = 16; offset > 0; offset /= 2) v = f(v, shuffle_xor(v, offset));
    st(y + threadIdx.x, static_cast<int>(v != butterfly(start, f)));
  };
  CHECK(outcome<int>(difference, 96) == std::vector<int>(96, 0));
  const auto sum = +[](int*) { butterfly(1, [](int a, int b) { return a + b; }); };
  CHECK(kind_of(sum, 40) == "bad_shuffle");  // 8 lanes in a warp
  CHECK(kind_of(sum, 64) == "none");
  CHECK(kind_of(
            +[](int*) {
              if (lane_id() != 3) butterfly(1, [](int a, int b) { return a + b; });
            },
            32) == "bad_shuffle");
  const auto two = +[](int*) {
    if (lane_id() < 16) butterfly(1, [](int a, int b) { return a + b; });
    else butterfly(1, [](int a, int b) { return a * b; });
  };
  CHECK(kind_of(two, 32) == "deadlock");
}

TEST_CASE("parts of a warp meet separately, by mask", "[simt]") {
  const auto kernel = +[](int* y) {
    const int lane = lane_id();
    const unsigned mask = lane < 8 ? 0xffu : lane < 20 ? 0xfff00u : 0xfff00000u;
    const int first = lane < 8 ? 0 : lane < 20 ? 8 : 20;
    st(y + threadIdx.x, shuffle(lane, first, mask) + 100 * static_cast<int>(all(true, mask)));
  };
  const auto y = outcome<int>(kernel, 32);
  for (unsigned i = 0; i < 32; ++i) CHECK(y[i] == 100 + (i < 8 ? 0 : i < 20 ? 8 : 20));
}

TEST_CASE("votes are right, also in a partial warp", "[simt]") {
  const auto ballots = outcome<unsigned>(
      +[](unsigned* y) { st(y + threadIdx.x, ballot(threadIdx.x % 3 == 0)); }, 40);
  CHECK(ballots[0] == 0x49249249u);
  CHECK(ballots[39] == 0x92u);  // threads 33, 36, 39 of 32..39
  const auto kernel = +[](int* y) {
    const bool last = threadIdx.x == 39;
    st(y + threadIdx.x, any(last) + 2 * all(!last) + 4 * all(true) + 8 * any(false));
  };
  const auto votes = outcome<int>(kernel, 40);
  CHECK(votes[0] == 2 + 4);
  CHECK(votes[39] == 1 + 4);
}

TEST_CASE("a partial warp may shuffle among its lanes; a source beyond them is a finding", "[simt]") {
  const auto y = outcome<int>(
      +[](int* p) { st(p + threadIdx.x, shuffle_xor(static_cast<int>(threadIdx.x), 4)); }, 40);
  CHECK(y[32] == 36);
  const auto beyond = +[](int* p) { st(p + threadIdx.x, shuffle_xor(1, 16)); };
  CHECK(kind_of(beyond, 40) == "bad_shuffle");
  CHECK(kind_of(beyond, 64) == "none");
  CHECK(kind_of(
            +[](int*) { ballot(true, 0xffffu); }, 8) == "bad_shuffle");
}

TEST_CASE("bad masks are findings", "[simt]") {
  CHECK(kind_of(
            +[](int*) { shuffle(1, 0, 0xffu); }, 32) == "bad_shuffle");  // caller outside
  CHECK(kind_of(
            +[](int*) {
              if (lane_id() < 8) shuffle(1, 9, 0xffu);
            },
            32) == "bad_shuffle");  // source outside
  CHECK(kind_of(
            +[](int*) {
              if (lane_id() != 3) shuffle_xor(1, 1);
            },
            32) == "bad_shuffle");  // a lane has ended
  CHECK(kind_of(
            +[](int*) {
              if (lane_id() != 3) ballot(true);
            },
            32) == "bad_shuffle");
  CHECK(kind_of(
            +[](int*) { sync_warp(0xff00u); }, 8) == "bad_shuffle");
  const Finding f = finding_in(
      ThreadOrder::forward,
      +[](int*) {
        if (lane_id() < 8) shuffle(1, 9, 0xffu);
      },
      32);
  CHECK(says(f, "reads from lane 9"));
  CHECK(f.line == __LINE__ - 4);
}

TEST_CASE("lanes at different calls with one mask never meet", "[simt]") {
  const auto kernel = +[](int* y) {
    int v = 1;
    if (lane_id() < 16) v = shuffle_xor(v, 1);
    else v = shuffle_xor(v, 2);
    st(y + threadIdx.x, v);
  };
  CHECK(kind_of(kernel, 32) == "deadlock");
  const Finding f = finding_in(ThreadOrder::shuffle, kernel, 32);
  CHECK(says(f, "16 threads at shuffle of lanes 0xffffffff"));
  CHECK(says(f, "rendezvous_test.cpp:"));
}

TEST_CASE("sync_warp does not wait for ended lanes", "[simt]") {
  CHECK(kind_of(
            +[](int* y) {
              if (lane_id() < 5) return;
              sync_warp();
              st(y, 1);
            },
            64) == "none");
}

TEST_CASE("a sync_block that some threads never reach is a finding", "[simt]") {
  const auto early_exit = +[](int*) {
    if (threadIdx.x >= 90) return;
    sync_block();
  };
  CHECK(kind_of(early_exit, 100) == "barrier_divergence");
  const Finding f = finding_in(ThreadOrder::reverse, early_exit, 100);
  CHECK(says(f, "90 threads at sync_block"));
  CHECK(says(f, "10 ended"));

  const auto two_calls = +[](int*) {
    if (threadIdx.x < 60) sync_block();
    else sync_block();
  };
  CHECK(kind_of(two_calls, 100) == "barrier_divergence");
  const Finding g = finding_in(ThreadOrder::forward, two_calls, 100);
  CHECK(says(g, "60 threads at sync_block"));
  CHECK(says(g, "40 threads at sync_block"));

  const auto once_more = +[](int*) {
    for (unsigned i = 0; i <= threadIdx.x / 50; ++i) sync_block();
  };
  CHECK(kind_of(once_more, 100) == "barrier_divergence");
}

TEST_CASE("a warp may end while others shuffle, and a thread in a block without barriers", "[simt]") {
  CHECK(kind_of(
            +[](int*) {
              if (warp_id() == 1) return;
              shuffle_xor(1, 1);
            },
            96) == "none");
  CHECK(kind_of(
            +[](int* y) {
              if (threadIdx.x % 2) return;
              st(y + threadIdx.x, 1);
            },
            96) == "none");
}

TEST_CASE("named barriers join groups of warps, several calls, and a partial warp", "[simt]") {
  const auto groups = +[](int* y) {
    const int group = warp_id() / 2;
    int* s = shared_memory<int>();
    st(s + threadIdx.x, static_cast<int>(threadIdx.x));
    sync_named(1 + group, 64);
    st(y + threadIdx.x, ld(s + (threadIdx.x ^ 63)));
  };
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order});
    const Buffer<int> y(128);
    launch(groups, {.grid = dim3(1), .block = dim3(128), .shared_bytes = 512}, nullptr, y.get());
    unsigned wrong = 0;
    for (int i = 0; i < 128; ++i) wrong += y[static_cast<std::size_t>(i)] != (i ^ 63);
    CHECK(wrong == 0);
  }
  const auto roles = +[](int*) {
    for (int i = 0; i < 3; ++i) {
      if (warp_id() == 0) sync_named(3, 96);
      else sync_named(3, 96);
      if (warp_id() == 2) sync_named(4, 32);
    }
  };
  CHECK(kind_of(roles, 96) == "none");
  CHECK(kind_of(
            +[](int*) {
              sync_named(1, 64);
              sync_named(1, 64);
            },
            40) == "none");
}

TEST_CASE("impossible named barriers are findings", "[simt]") {
  CHECK(kind_of(
            +[](int*) { sync_named(1, 96); }, 64) == "deadlock");
  CHECK(says(finding_in(
                 ThreadOrder::forward, +[](int*) { sync_named(2, 96); }, 64),
             "64 threads at sync_named 2"));
  CHECK(kind_of(
            +[](int*) { sync_named(0, 64); }, 64) == "barrier_divergence");
  CHECK(kind_of(
            +[](int*) { sync_named(16, 64); }, 64) == "barrier_divergence");
  CHECK(kind_of(
            +[](int*) { sync_named(1, 40); }, 64) == "barrier_divergence");
  CHECK(kind_of(
            +[](int*) { sync_named(1, warp_id() ? 64 : 96); }, 64) == "barrier_divergence");
}

TEST_CASE("warps that wait for each other at different barriers are a deadlock that lists both", "[simt]") {
  const auto kernel = +[](int*) {
    if (warp_id() == 0) sync_named(1, 64);
    sync_block();
    if (warp_id() == 1) sync_named(1, 64);
  };
  CHECK(kind_of(kernel, 64) == "deadlock");
  const Finding f = finding_in(ThreadOrder::forward, kernel, 64);
  CHECK(says(f, "32 threads at sync_named 1"));
  CHECK(says(f, "32 threads at sync_block"));
}

TEST_CASE("a launch after a finding runs as if there had been none", "[simt]") {
  const auto bad = +[](int* y) {
    volatile char locals[2000];
    locals[threadIdx.x] = 1;
    if (threadIdx.x == 77) ld(y + 1000000);
    sync_block();
    st(y + threadIdx.x, static_cast<int>(locals[threadIdx.x]));
  };
  const auto good = +[](int* y) {
    volatile int v = shuffle_xor(static_cast<int>(threadIdx.x), 1);
    sync_block();
    st(y + threadIdx.x, v + 1);
  };
  const Buffer<int> y(256);
  for (int i = 0; i < 50; ++i) {
    const Configured configured({.order = kOrders[i % 3]});
    CHECK(finding_of([&] { run_block(bad, 256, y.get()); }).kind == "out_of_bounds");
    CHECK(finding_of([&] { run_block(good, 256, y.get()); }).kind == "none");
    CHECK(y[10] == 12);
  }
}
