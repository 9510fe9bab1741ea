// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "simt_testing.hpp"

namespace {

using namespace simt::device;
using namespace simt::testing;
using simt::Finding;
using simt::ThreadOrder;

// Each thread, or each block, appends its number to `log`.
void log_threads(unsigned* log, unsigned* n) { st(log + atomic_add(n, 1u), static_cast<unsigned>(linear_thread())); }
void log_blocks(unsigned* log, unsigned* n) {
  st(log + atomic_add(n, 1u), blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
}

std::vector<unsigned> contents(const Buffer<unsigned>& b) { return {b.get(), b.get() + b.size()}; }
std::vector<unsigned> sorted(std::vector<unsigned> v) {
  std::sort(v.begin(), v.end());
  return v;
}
std::vector<unsigned> counting(unsigned n) {
  std::vector<unsigned> v(n);
  for (unsigned i = 0; i < n; ++i) v[i] = i;
  return v;
}

std::vector<unsigned> thread_order(ThreadOrder order, std::uint64_t seed, dim3 block) {
  const Configured configured({.order = order, .seed = seed});
  const Buffer<unsigned> log(block.x * block.y * block.z), n(1);
  launch(log_threads, {.grid = dim3(1), .block = block}, nullptr, log.get(), n.get());
  return contents(log);
}
std::vector<unsigned> block_order(ThreadOrder order, std::uint64_t seed, dim3 grid) {
  const Configured configured({.order = order, .seed = seed});
  const Buffer<unsigned> log(grid.x * grid.y * grid.z), n(1);
  launch(log_blocks, {.grid = grid, .block = dim3(1)}, nullptr, log.get(), n.get());
  return contents(log);
}

}  // namespace

TEST_CASE("threads take turns forward, in reverse and shuffled by the seed", "[simt]") {
  const std::vector<unsigned> forward = counting(120), reverse(forward.rbegin(), forward.rend());
  const dim3 block(5, 4, 6);
  CHECK(thread_order(ThreadOrder::forward, 0, block) == forward);
  CHECK(thread_order(ThreadOrder::reverse, 0, block) == reverse);
  const std::vector<unsigned> a = thread_order(ThreadOrder::shuffle, 1, block), b = thread_order(ThreadOrder::shuffle, 2, block);
  CHECK(sorted(a) == forward);
  CHECK(a != forward);
  CHECK(a != b);
  CHECK(a == thread_order(ThreadOrder::shuffle, 1, block));
}

TEST_CASE("blocks take turns forward, in reverse and shuffled, each exactly once", "[simt]") {
  for (const dim3 grid : {dim3(1), dim3(2), dim3(37), dim3(7, 5, 3), dim3(1000)}) {
    const std::vector<unsigned> forward = counting(grid.x * grid.y * grid.z);
    CHECK(block_order(ThreadOrder::forward, 0, grid) == forward);
    CHECK(block_order(ThreadOrder::reverse, 0, grid) == std::vector<unsigned>(forward.rbegin(), forward.rend()));
    for (std::uint64_t seed = 0; seed < 5; ++seed) CHECK(sorted(block_order(ThreadOrder::shuffle, seed, grid)) == forward);
  }
  CHECK(block_order(ThreadOrder::shuffle, 1, dim3(100)) != block_order(ThreadOrder::shuffle, 2, dim3(100)));
}

TEST_CASE("threads take turns in the same order after a barrier", "[simt]") {
  const auto kernel = +[](unsigned* log, unsigned* n) {
    sync_block();
    log_threads(log, n);
    sync_warp();
    st(log + blockDim.x + atomic_add(n + 1, 1u), threadIdx.x);
  };
  const Configured configured({.order = ThreadOrder::reverse});
  const Buffer<unsigned> log(128), n(2);
  run_block(kernel, 64, log.get(), n.get());
  const std::vector<unsigned> up = counting(64), want(up.rbegin(), up.rend()), got = contents(log);
  CHECK(std::vector<unsigned>(got.begin() + 64, got.end()) == want);
}

TEST_CASE("a missing barrier gives a wrong result in some order, a present one in none", "[simt]") {
  // Every thread reads the number of the next one.
  const auto exchange = +[](unsigned* y, bool barrier) {
    unsigned* s = shared_memory<unsigned>();
    st(s + threadIdx.x, threadIdx.x);
    if (barrier) sync_block();
    st(y + threadIdx.x, ld(s + (threadIdx.x + 1) % blockDim.x));
  };
  const auto right = [&](ThreadOrder order, bool barrier) {
    const Configured configured({.order = order, .seed = 9});
    const Buffer<unsigned> y(100);
    launch(exchange, {.grid = dim3(1), .block = dim3(100), .shared_bytes = 400}, nullptr, y.get(), barrier);
    unsigned n = 0;
    for (unsigned i = 0; i < 100; ++i) n += y[i] == (i + 1) % 100;
    return n == 100;
  };
  for (const ThreadOrder order : kOrders) CHECK(right(order, true));
  CHECK_FALSE(right(ThreadOrder::forward, false));
}

TEST_CASE("the built-in variables are right in three dimensions", "[simt]") {
  const auto kernel = +[](unsigned* y) {
    const unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    sync_block();
    const bool same = t == threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const bool numbered = lane_id() == static_cast<int>(t % 32) && warp_id() == static_cast<int>(t / 32);
    st(y + b * 120 + t, same && numbered ? b * 120 + t : 0u);
  };
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order});
    const Buffer<unsigned> y(24 * 120);
    launch(kernel, {.grid = dim3(2, 3, 4), .block = dim3(4, 5, 6)}, nullptr, y.get());
    CHECK(contents(y) == counting(24 * 120));
  }
}

TEST_CASE("a grid of 65,537 blocks, beyond 16 bits, runs whole", "[simt]") {
  const Buffer<unsigned> y(65537);
  const auto kernel = +[](unsigned* p) {
    if (threadIdx.x == 0) st(p + blockIdx.x, blockIdx.x);
  };
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .seed = 4});
    for (unsigned i = 0; i < 65537; ++i) y[i] = ~0u;
    launch(kernel, {.grid = dim3(65537), .block = dim3(2)}, nullptr, y.get());
    CHECK(contents(y) == counting(65537));
  }
}

TEST_CASE("arguments become the kernel's parameter types, and every thread has its own copy", "[simt]") {
  struct Big {
    long a[8];
  };
  const auto kernel = +[](double* out, double d, std::int64_t n, Big big, const float* null, unsigned char small) {
    big.a[3] += threadIdx.x;
    n += threadIdx.x;
    sync_block();
    if (threadIdx.x == 7) {
      st(out, d);
      st(out + 1, static_cast<double>(n));
      st(out + 2, static_cast<double>(big.a[3]));
      st(out + 3, null == nullptr ? 1.0 : 0.0);
      st(out + 4, static_cast<double>(small));
    }
  };
  const Buffer<double> out(5);
  const int d = 3;
  launch(kernel, {.grid = dim3(1), .block = dim3(8)}, nullptr, out.get(), d, 40u, Big{{0, 0, 0, 5}}, nullptr, 258);
  CHECK(std::vector<double>(out.get(), out.get() + 5) == std::vector<double>{3, 47, 12, 1, 2});
}

TEST_CASE("launches that no GPU accepts are findings", "[simt]") {
  const auto kernel = +[] {};
  const auto run = [&](dim3 grid, dim3 block) {
    return finding_of([&] { launch(kernel, {.grid = grid, .block = block}, nullptr); }).kind;
  };
  CHECK(run(dim3(1), dim3(1024)) == "none");
  CHECK(run(dim3(1), dim3(16, 8, 8)) == "none");
  CHECK(run(dim3(1), dim3(1025)) == "bad_launch");
  CHECK(run(dim3(1), dim3(32, 33)) == "bad_launch");
  CHECK(run(dim3(1), dim3(1, 1, 65)) == "bad_launch");
  CHECK(run(dim3(1), dim3(65536, 65536)) == "bad_launch");
  CHECK(run(dim3(0), dim3(1)) == "bad_launch");
  CHECK(run(dim3(1, 0), dim3(1)) == "bad_launch");
  CHECK(run(dim3(1), dim3(0)) == "bad_launch");
  CHECK(run(dim3(1, 65535), dim3(1)) == "none");
  CHECK(run(dim3(1, 65536), dim3(1)) == "bad_launch");
  CHECK(run(dim3(1, 1, 65536), dim3(1)) == "bad_launch");
  CHECK(run(dim3(0x80000000u), dim3(1)) == "bad_launch");
}

TEST_CASE("a launch on another stream than the caller's is a finding", "[simt]") {
  int mine = 0, other = 0;
  const auto kernel = +[] {};
  const auto run = [&](void* stream) {
    return finding_of([&] { launch(kernel, {.grid = dim3(1), .block = dim3(1)}, stream); }).kind;
  };
  const Configured configured({.stream = &mine});
  CHECK(run(&mine) == "none");
  CHECK(run(&other) == "unjoined_stream");
  CHECK(run(nullptr) == "unjoined_stream");
}

TEST_CASE("endless loops of loads, shuffles and barriers meet the time limit", "[simt]") {
  const Configured configured({.time_limit_s = 0.05});
  const Buffer<float> x(1);
  const auto loads = +[](float* p) {
    while (ld(p) == 0) {
    }
  };
  const auto shuffles = +[](float* p) {
    for (float v = 0;; v = shuffle_xor(v, 1))
      if (v != 0) st(p, v);
  };
  const auto barriers = +[](float*) {
    for (;;) sync_block();
  };
  for (const auto kernel : {loads, shuffles, barriers}) {
    const Finding f = finding_of([&] { run_block(kernel, 64, x.get()); });
    CHECK(f.kind == "time_limit");
    CHECK(f.file.find("schedule_test.cpp") != std::string::npos);
  }
}

TEST_CASE("a thread may spin on what a later one writes", "[simt]") {
  const auto kernel = +[](int* flag) {
    if (threadIdx.x == 0) {
      while (ld(flag) != 63) {
      }
      st(flag + 1, 1);
    } else {
      atomic_add(flag, 1);
    }
  };
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .time_limit_s = kHang_s});
    const Buffer<int> flag(2);
    run_block(kernel, 64, flag.get());
    CHECK(flag[1] == 1);
  }
}

#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE("endless recursion is a stack_overflow", "[simt]") {
  struct Recursion {
    static int deeper(const int* p, int depth) {
      volatile char pad[512];
      pad[depth % 512] = static_cast<char>(depth);
      return ld(p) == 0 ? deeper(p, depth + 1) + pad[depth % 512] : 0;
    }
    static void kernel(int* p) { st(p, deeper(p, 0)); }
  };
  const Buffer<int> zero(1);
  CHECK(finding_of([&] { run_block(Recursion::kernel, 1, zero.get()); }).kind == "stack_overflow");
  CHECK(finding_of([&] {
          run_block(
              +[](int* p) { st(p, 1); }, 1, zero.get());
        }).kind == "none");
}
#endif

TEST_CASE("device functions called by the host are findings, not crashes", "[simt]") {
  float on_host = 0;
  CHECK(finding_of([&] { ld(&on_host); }).kind == "out_of_bounds");
}
