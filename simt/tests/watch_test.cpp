// SPDX-License-Identifier: Apache-2.0
// Races: each kind is planted and must be found in every order of the threads, even if the output is right; ordered accesses must
// give none.
#include <cstdint>
#include <string>

#include "simt_testing.hpp"

namespace {

using namespace simt::device;
using namespace simt::testing;
using simt::Finding;

constexpr unsigned kThreads = 64;

// The finding of a watched launch in one order.
template <class... Params, class... Args>
Finding watched(simt::ThreadOrder order, void (*kernel)(Params...), unsigned blocks, unsigned threads, Args... args) {
  const Configured configured({.order = order, .seed = 11, .watch = true});
  return finding_of(
      [&] { launch(kernel, {.grid = dim3(blocks), .block = dim3(threads), .shared_bytes = 16 * 1024}, nullptr, args...); });
}

// The kind of the finding in every order, or "differs: ..." if the orders disagree.
template <class... Params, class... Args>
std::string found(void (*kernel)(Params...), unsigned blocks, unsigned threads, Args... args) {
  const std::string first = watched(kOrders[0], kernel, blocks, threads, args...).kind;
  for (const simt::ThreadOrder order : kOrders)
    if (const Finding f = watched(order, kernel, blocks, threads, args...); f.kind != first) return "differs: " + f.kind;
  return first;
}

int thread() { return static_cast<int>(threadIdx.x); }

}  // namespace

TEST_CASE("a read after a write is a race unless a barrier of both threads lies between", "[simt][watch]") {
  using Kernel = void (*)(int, int);
  const Kernel kernel = +[](int apart, int barrier) {
    float* s = shared_memory<float>();
    st(s + thread(), 1.0f);
    if (barrier == 1) sync_warp();
    if (barrier == 2) sync_block();
    if (barrier == 3) {
      shuffle(1, 0);
      ballot(true);
    }
    if (barrier == 4) sync_named(1, kThreads);
    ld(s + (thread() ^ apart));
  };
  CHECK(found(kernel, 2, kThreads, 0, 0) == "none");  // reads its own element
  CHECK(found(kernel, 2, kThreads, 1, 0) == "shared_race");
  CHECK(found(kernel, 2, kThreads, 1, 1) == "none");
  CHECK(found(kernel, 2, kThreads, 1, 2) == "none");
  CHECK(found(kernel, 2, kThreads, 1, 3) == "shared_race");  // shuffles and votes order no memory
  CHECK(found(kernel, 2, kThreads, 1, 4) == "none");
  CHECK(found(kernel, 2, kThreads, 32, 0) == "shared_race");
  CHECK(found(kernel, 2, kThreads, 32, 1) == "shared_race");
  CHECK(found(kernel, 2, kThreads, 32, 2) == "none");
  CHECK(found(kernel, 2, kThreads, 32, 4) == "none");
}

TEST_CASE("a write after a read is a race, even if every order gives the right output", "[simt][watch]") {
  using Kernel = void (*)(float*, bool);
  const Kernel kernel = +[](float* y, bool barrier) {
    float* s = shared_memory<float>();
    if (thread() == 0) st(s, 3.0f);
    sync_block();
    const float v = ld(s);
    if (barrier) sync_block();
    if (thread() == 40) st(s, 3.0f);  // the same value, so the output is right all the same
    st(y + thread(), v);
  };
  const Buffer<float> y(kThreads);
  CHECK(found(kernel, 1, kThreads, y.get(), false) == "shared_race");
  CHECK(found(kernel, 1, kThreads, y.get(), true) == "none");
}

TEST_CASE("two writes of the same bytes are a race, writes of neighbouring bytes are not", "[simt][watch]") {
  const auto at = [](int bytes, int apart) {
    using Kernel = void (*)(int, int);
    const Kernel kernel = +[](int n, int distance) {
      char* s = shared_memory<char>() + thread() * distance;
      if (n == 1) st(s, 'x');
      if (n == 2) st(reinterpret_cast<std::uint16_t*>(s), std::uint16_t{1});
      if (n == 4) st(reinterpret_cast<float*>(s), 1.0f);
      if (n == 16) st(reinterpret_cast<Vec<float, 4>*>(s), Vec<float, 4>{});
    };
    return found(kernel, 1, kThreads, bytes, apart);
  };
  for (const int bytes : {1, 2, 4, 16}) {
    CAPTURE(bytes);
    CHECK(at(bytes, bytes) == "none");
    CHECK(at(bytes, 0) == "shared_race");
  }
}

TEST_CASE("accesses of different sizes race in the bytes that they share", "[simt][watch]") {
  // Thread 0 writes 16 bytes from byte 16 on; thread 33 writes byte `at`, without a barrier.
  using Kernel = void (*)(int);
  const Kernel kernel = +[](int at) {
    char* s = shared_memory<char>();
    if (thread() == 0) st(reinterpret_cast<Vec<float, 4>*>(s + 16), Vec<float, 4>{});
    if (thread() == 33) st(s + at, 'x');
    if (thread() == 34) st(reinterpret_cast<std::uint16_t*>(s + 64), std::uint16_t{});
  };
  for (const int at : {16, 21, 31}) CHECK(found(kernel, 1, kThreads, at) == "shared_race");
  for (const int at : {15, 32}) CHECK(found(kernel, 1, kThreads, at) == "none");
}

TEST_CASE("the one reader of many that has not come to the barrier is found", "[simt][watch]") {
  // Thread 0 writes after the barrier.  All threads but `late` read before it, `late` after it.
  using Kernel = void (*)(int);
  const Kernel kernel = +[](int late) {
    int* s = shared_memory<int>();
    if (thread() == 7) st(s, 5);
    sync_block();
    if (thread() != late) ld(s);
    sync_block();
    if (thread() == late) ld(s);
    if (thread() == 0) st(s, 6);
  };
  for (const int late : {1, 31, 32, 63}) CHECK(found(kernel, 1, kThreads, late) == "shared_race");
  CHECK(found(kernel, 1, kThreads, 0) == "none");
  CHECK(found(kernel, 1, kThreads, 1000) == "none");
}

TEST_CASE("a finding names both lines, both threads and the byte", "[simt][watch]") {
  const auto kernel = +[] {
    float* s = shared_memory<float>();
    if (threadIdx.x == 3) st(s + 5, 1.0f);  // line 1
    if (threadIdx.x == 9) st(s + 5, 2.0f);  // line 2
  };
  const Finding f = watched(simt::ThreadOrder::forward, kernel, 1, 32);
  CHECK(f.kind == "shared_race");
  CHECK(f.line == __LINE__ - 4);
  CHECK(says(f,
             "write of 4 bytes at byte 20 of 'shared memory' (16384 bytes), unordered after the write by thread (3, 0, 0) of "
             "block (0, 0, 0) ("));
  CHECK(says(f, "watch_test.cpp:" + std::to_string(__LINE__ - 9) + ")"));
  CHECK(says(f, "by block (0, 0, 0), thread (9, 0, 0)"));
  CHECK(watched(simt::ThreadOrder::reverse, kernel, 1, 32).line == __LINE__ - 11);
}

TEST_CASE("sync_warp of some lanes orders these and no others", "[simt][watch]") {
  using Kernel = void (*)(int);
  const Kernel kernel = +[](int apart) {
    int* s = shared_memory<int>();
    const int half = thread() / 16 % 2;
    st(s + thread(), 1);
    sync_warp(half ? 0xffff0000u : 0x0000ffffu);
    ld(s + (thread() ^ apart));
  };
  for (const int apart : {1, 8, 15}) CHECK(found(kernel, 1, kThreads, apart) == "none");
  CHECK(found(kernel, 1, kThreads, 16) == "shared_race");
}

TEST_CASE("order is transitive over several barriers", "[simt][watch]") {
  // Pairs of lanes order 0, 1 and 2; a named barrier orders warp 0 before warp 1; a sync_warp orders the rest of warp 1.
  using Kernel = void (*)(int);
  const Kernel kernel = +[](int what) {
    int* s = shared_memory<int>();
    if (thread() == 0) st(s, 1);
    if (thread() < 2) sync_warp(0x3);
    if (what != 1 && (thread() == 1 || thread() == 2)) sync_warp(0x6);
    if (thread() == 2) ld(s);
    if (thread() < 32) sync_warp();
    if (what != 2) sync_named(2, 64);
    if (thread() >= 32 && thread() < 64) sync_warp();
    if (thread() == 40) st(s, 2);
  };
  const Kernel two_of_three = +[](int what) {
    int* s = shared_memory<int>();
    if (thread() == 0) st(s, 1);
    if (thread() < 64) sync_named(2, 64);
    if (thread() == (what == 0 ? 40 : 70)) ld(s);
  };
  CHECK(found(kernel, 1, 64, 0) == "none");
  CHECK(found(kernel, 1, 64, 1) == "shared_race");
  CHECK(found(kernel, 1, 64, 2) == "shared_race");
  CHECK(found(two_of_three, 1, 96, 0) == "none");
  CHECK(found(two_of_three, 1, 96, 1) == "shared_race");
}

TEST_CASE("a lane that has ended counts as arrived at sync_warp", "[simt][watch]") {
  const auto kernel = +[] {
    int* s = shared_memory<int>();
    st(s + thread(), 1);
    if (thread() % 32 == 5) return;
    sync_warp();
    ld(s + thread() / 32 * 32 + 5);
  };
  CHECK(found(kernel, 1, kThreads) == "none");
}

TEST_CASE("two buffers with a barrier a step give no race; one buffer, or no barrier, does", "[simt][watch]") {
  using Kernel = void (*)(int, bool);
  const Kernel kernel = +[](int buffers, bool barrier) {
    int* s = shared_memory<int>();
    int sum = 0;
    for (int step = 0; step < 6; ++step) {
      int* tile = s + step % buffers * static_cast<int>(kThreads);
      st(tile + thread(), step);
      if (barrier) sync_block();
      for (int i = 0; i < static_cast<int>(kThreads); ++i) sum += ld(tile + i);
    }
  };
  CHECK(found(kernel, 3, kThreads, 2, true) == "none");
  CHECK(found(kernel, 3, kThreads, 1, true) == "shared_race");
  CHECK(found(kernel, 3, kThreads, 2, false) == "shared_race");
}

TEST_CASE("other threads may read an asynchronous copy only after its wait and a barrier", "[simt][watch]") {
  // how = 0: wait, then barrier, which is right.  1: the wait comes after the barrier.  2: there is no barrier.
  using Kernel = void (*)(const float*, int);
  const Kernel kernel = +[](const float* x, int how) {
    float* s = shared_memory<float>();
    cp_async<16>(s + 4 * thread(), x + 4 * thread());
    cp_async_commit();
    if (how == 1) sync_block();
    cp_async_wait<0>();
    if (how == 0) sync_block();
    if (how == 1) sync_warp();
    ld(s + 4 * (thread() ^ 32));
  };
  const Buffer<float> x(4 * kThreads);
  CHECK(found(kernel, 2, kThreads, x.get(), 0) == "none");
  for (const simt::ThreadOrder order : kOrders)  // the kind of the finding depends on the order
    for (const int how : {1, 2}) CHECK(watched(order, kernel, 2, kThreads, x.get(), how).kind != "none");
  const Kernel late = +[](const float* p, int) {  // all copies are complete, but not ordered before other threads' reads
    float* s = shared_memory<float>();
    cp_async<16>(s + 4 * thread(), p + 4 * thread());
    cp_async_commit();
    sync_block();
    cp_async_wait<0>();
    for (int i = 0; i < 5; ++i) shuffle(1, 0);
    if (thread() == 0) ld(s + 4 * 31);
  };
  for (const simt::ThreadOrder order : kOrders) CHECK(watched(order, late, 1, 32, x.get(), 0).kind == "shared_race");
}

TEST_CASE("atomics do not race with each other, but with plain accesses", "[simt][watch]") {
  using Kernel = void (*)(unsigned*, int);
  const Kernel kernel = +[](unsigned* total, int how) {
    unsigned* s = shared_memory<unsigned>();
    if (thread() == 0) st(s, 0u);
    sync_block();
    atomic_add(s, 1u);
    if (how == 1) ld(s);
    if (how == 2 && thread() == 50) st(s, 1u);
    sync_block();
    if (thread() == 0) atomic_add(total, ld(s));
    if (how == 3 && thread() == 0) ld(total);
  };
  const Buffer<unsigned> total(1);
  CHECK(found(kernel, 3, kThreads, total.get(), 0) == "none");
  CHECK(found(kernel, 3, kThreads, total.get(), 1) == "shared_race");
  CHECK(found(kernel, 3, kThreads, total.get(), 2) == "shared_race");
  CHECK(found(kernel, 3, kThreads, total.get(), 3) == "global_race");
  CHECK(found(kernel, 1, kThreads, total.get(), 3) == "none");
}

TEST_CASE("accesses to global memory race between blocks and within one, but not between launches", "[simt][watch]") {
  using Kernel = void (*)(float*, int);
  const Kernel kernel = +[](float* y, int how) {
    const int block = static_cast<int>(blockIdx.x), n = static_cast<int>(kThreads);
    if (how == 0) st(y + block * n + thread(), 1.0f);
    if (how == 1) st(y + thread(), 1.0f);  // every block writes the same elements
    if (how == 2) {
      st(y + block * n + thread(), 1.0f);
      ld(y + (block + 1) % 3 * n + thread());  // of another block
    }
    if (how == 3) {
      st(y + block * n + thread(), 1.0f);
      ld(y + block * n + (thread() ^ 1));  // of another thread
    }
    if (how == 4) {
      st(y + block * n + thread(), 1.0f);
      sync_block();
      ld(y + block * n + (thread() ^ 33));
    }
    if (how == 5) ld(y + thread());
    if (how == 6 && (block == 1 || thread() != 9)) ld(y + thread());
    if (how == 6 && block == 1 && thread() == 9) st(y + 8, 1.0f);
  };
  const Buffer<float> y(3 * kThreads);
  CHECK(found(kernel, 3, kThreads, y.get(), 0) == "none");  // also between the launches that found() makes
  CHECK(found(kernel, 3, kThreads, y.get(), 1) == "global_race");
  CHECK(found(kernel, 3, kThreads, y.get(), 2) == "global_race");
  CHECK(found(kernel, 3, kThreads, y.get(), 3) == "global_race");
  CHECK(found(kernel, 3, kThreads, y.get(), 4) == "none");
  CHECK(found(kernel, 3, kThreads, y.get(), 5) == "none");
  CHECK(found(kernel, 3, kThreads, y.get(), 6) == "global_race");
  const Finding f = watched(simt::ThreadOrder::forward, kernel, 3, kThreads, y.get(), 1);
  CHECK(says(f, "of block (0, 0, 0)"));
  CHECK(says(f, "by block (1, 0, 0), thread (0, 0, 0)"));
}

TEST_CASE("a read of memory that nobody wrote is a finding", "[simt][watch]") {
  const auto shared = +[](int first, int read) {
    char* s = shared_memory<char>();
    if (thread() == 0)
      for (int i = first; i < 16; ++i) st(s + i, 'x');
    sync_block();
    if (read == 1) ld(s);
    if (read == 2) ld(reinterpret_cast<std::uint16_t*>(s));
    if (read == 4) ld(reinterpret_cast<float*>(s));
    if (read == 16) ld(reinterpret_cast<Vec<float, 4>*>(s));
  };
  for (const int bytes : {1, 2, 4, 16}) {
    CHECK(found(shared, 2, kThreads, 0, bytes) == "none");
    CHECK(found(shared, 2, kThreads, 1, bytes) == "uninitialised");
  }
  const auto first_block_writes = +[] {
    int* s = shared_memory<int>();
    if (blockIdx.x == gridDim.x / 2) st(s + thread(), 1);
    else ld(s + thread());
  };
  CHECK(found(first_block_writes, 3, 32) == "uninitialised");

  const auto copy = +[](const float* x, float* y) { st(y + thread(), ld(x + thread())); };
  auto* raw = static_cast<float*>(simt::allocate(kThreads * 4, 0, "workspace"));
  const Buffer<float> y(kThreads);
  const Finding f = watched(simt::ThreadOrder::forward, copy, 1, kThreads, raw, y.get());
  CHECK(f.kind == "uninitialised");
  CHECK(says(f, "read of 4 bytes at byte 0 of 'workspace' (256 bytes), which nobody wrote"));
  simt::mark_written(raw, kThreads * 4 - 1);
  CHECK(found(copy, 1, kThreads - 1, raw, y.get()) == "none");
  CHECK(found(copy, 1, kThreads, raw, y.get()) == "uninitialised");
  CHECK(found(copy, 1, kThreads, y.get(), raw) == "none");
  simt::reset_counts();
  CHECK(found(copy, 1, kThreads, raw, y.get()) == "none");  // a kernel wrote it before the counts were reset
  simt::release(raw);
}

TEST_CASE("an index that nobody wrote is the finding, not the access that it leads to", "[simt][watch]") {
  const auto kernel = +[](const float* x) { ld(x + ld(shared_memory<int>() + thread())); };
  const Buffer<float> x(kThreads);
  CHECK(found(kernel, 1, kThreads, x.get()) == "uninitialised");
}

TEST_CASE("first_unwritten finds what a launch left unwritten", "[simt][watch]") {
  const Buffer<float> y(kThreads);
  const auto kernel = +[](float* p, int last) {
    if (thread() <= last) st(p + thread(), 1.0f);
  };
  simt::reset_counts();
  run_block(kernel, kThreads, y.get(), 40);
  CHECK(simt::first_unwritten(y.get(), kThreads * 4) == 41 * 4);
  CHECK(simt::first_unwritten(y.get(), 40 * 4) == 40 * 4);
  run_block(kernel, kThreads, y.get(), 63);
  CHECK(simt::first_unwritten(y.get(), kThreads * 4) == kThreads * 4);
}
