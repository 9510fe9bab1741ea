// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "simt/memory.hpp"
#include "simt_testing.hpp"

namespace {

using namespace simt::device;
using namespace simt::testing;
using simt::Finding;

void read_at(const float* p, long bytes, float* out) {
  const float v = ld(reinterpret_cast<const float*>(reinterpret_cast<const char*>(p) + bytes));
  if (out != nullptr) st(out, v);
}
template <class T>
void write_at(char* p, long bytes) {
  st(reinterpret_cast<T*>(p + bytes), T{});
}

template <class T>
Finding write_finding(const Buffer<char>& b, long bytes) {
  return finding_of([&] { run_block(write_at<T>, 1, b.get(), bytes); });
}

using Bytes16 = Vec<std::uint32_t, 4>;

}  // namespace

TEST_CASE("accesses within an allocation pass, of every size, up to its last byte", "[simt]") {
  const Buffer<char> b(160);
  CHECK(write_finding<std::uint8_t>(b, 0).kind == "none");
  CHECK(write_finding<std::uint8_t>(b, 159).kind == "none");
  CHECK(write_finding<std::uint16_t>(b, 158).kind == "none");
  CHECK(write_finding<float>(b, 156).kind == "none");
  CHECK(write_finding<double>(b, 152).kind == "none");
  CHECK(write_finding<Bytes16>(b, 144).kind == "none");
}

TEST_CASE("one byte past the end is out of bounds, for every size", "[simt]") {
  for (const std::size_t bytes : {1u, 7u, 15u, 16u, 31u, 4095u, 4096u}) {
    const Buffer<char> b(bytes, "victim");
    const auto n = static_cast<long>(bytes);
    CHECK(write_finding<std::uint8_t>(b, n).kind == "out_of_bounds");
    CHECK(write_finding<std::uint16_t>(b, (n - 1) / 2 * 2 + (n % 2 ? 0 : 2)).kind == "out_of_bounds");
    CHECK(write_finding<float>(b, (n - 1) / 4 * 4 + (n % 4 ? 0 : 4)).kind == "out_of_bounds");
    CHECK(write_finding<double>(b, (n - 1) / 8 * 8 + (n % 8 ? 0 : 8)).kind == "out_of_bounds");
    CHECK(write_finding<Bytes16>(b, (n - 1) / 16 * 16 + (n % 16 ? 0 : 16)).kind == "out_of_bounds");
    CHECK(write_finding<std::uint8_t>(b, -1).kind == "out_of_bounds");
    CHECK(write_finding<Bytes16>(b, -16).kind == "out_of_bounds");
  }
}

TEST_CASE("a finding names the allocation, the distance, the block, the thread and the line", "[simt]") {
  const Buffer<float> x(100, "weights");
  const Finding past = finding_of([&] {
    launch(
        +[](const float* p) {
          if (blockIdx.x == 2 && threadIdx.x == 5) ld(p + 101);  // this line
        },
        {.grid = dim3(3), .block = dim3(8)}, nullptr, x.get());
  });
  CHECK(past.kind == "out_of_bounds");
  CHECK(past.file.find("memory_test.cpp") != std::string::npos);
  CHECK(past.line == __LINE__ - 6);
  CHECK(says(past, "read of 4 bytes ending 8 bytes past the end of 'weights' (400 bytes)"));
  CHECK(says(past, "block (2, 0, 0), thread (5, 0, 0)"));
  const Finding before = finding_of([&] { run_block(read_at, 1, x.get(), -4L, nullptr); });
  CHECK(says(before, "4 bytes before the start of 'weights'"));
}

TEST_CASE("the finding of an access far outside an allocation still names it", "[simt]") {
  const Buffer<float> a(10, "a"), b(10, "b"), c(10, "c");
  CHECK(says(finding_of([&] { run_block(read_at, 1, b.get(), -(100L << 20), nullptr); }), "before the start of 'b'"));
  CHECK(says(finding_of([&] { run_block(read_at, 1, b.get(), 100L << 20, nullptr); }), "past the end of 'b'"));
  CHECK(finding_of([&] { run_block(read_at, 1, b.get(), 1L << 40, nullptr); }).kind == "out_of_bounds");
}

TEST_CASE("an access far from every allocation is told by the nearest, and an offset cut to 32 bits by its own", "[simt]") {
  constexpr std::size_t kApart = std::size_t{6} << 30;  // 3 * 2^30 elements of 2 bytes
  const Buffer<float> before(10, "before");
  auto* p = static_cast<char*>(simt::allocate(kApart + 8, 0, "apart", {{0, 8}, {kApart, kApart + 8}}));
  const auto read = [&](const char* base, std::int64_t elements) {
    return finding_of([&] {
      run_block(
          +[](const char* x, std::int64_t at) { ld(reinterpret_cast<const std::uint16_t*>(x) + at); }, 1, base, elements);
    });
  };
  const std::int64_t row = kApart / 2;
  CHECK(read(p, row).kind == "none");
  const Finding cut = read(p, static_cast<std::int32_t>(row));
  CHECK(cut.kind == "out_of_bounds");
  CHECK(says(
      cut, "read of 2 bytes 2147483648 bytes before the start of 'apart' (6442450952 bytes) (an offset of more than 32 bits?)"));
  CHECK_FALSE(says(read(p, row + 4), "32 bits"));
  CHECK(says(read(p, row + 4), "past the end of 'apart'"));
  const Finding far = read(p, -(std::int64_t{1} << 40));
  CHECK(says(far, "which is in no allocation"));
  CHECK(says(far, " bytes before the start of '"));  // of whichever is lowest: this program may have others
  CHECK(says(far, ", the nearest one"));
  const auto end_of_before = reinterpret_cast<std::uintptr_t>(before.get() + 10);
  CHECK(simt::detail::nearest_allocation(end_of_before + 4)->name == "before");
  CHECK(says(read(p, row / 2), "an access between two rows, far from both, at byte 3221225472 of 'apart'"));
  // Shared memory that the kernel did not ask for is named only by an access close to it.
  CHECK(says(finding_of([&] {
               launch(
                   +[] { ld(shared_memory<float>()); }, {.grid = dim3(1), .block = dim3(1)}, nullptr);
             }),
             "past the end of 'shared memory' (0 bytes)"));
  simt::release(p);
  CHECK(says(read(p, 0), "which was released"));
}

TEST_CASE("misaligned accesses are findings, also within bounds", "[simt]") {
  const Buffer<char> b(64, "m");
  CHECK(write_finding<float>(b, 2).kind == "misaligned");
  CHECK(write_finding<std::uint16_t>(b, 1).kind == "misaligned");
  CHECK(write_finding<double>(b, 4).kind == "misaligned");
  CHECK(write_finding<Bytes16>(b, 8).kind == "misaligned");
  const Buffer<char> shifted(64, "shifted", 2);
  CHECK(reinterpret_cast<std::uintptr_t>(shifted.get()) % 256 == 2);
  CHECK(write_finding<std::uint16_t>(shifted, 0).kind == "none");
  CHECK(write_finding<std::uint16_t>(shifted, 62).kind == "none");
  CHECK(write_finding<float>(shifted, 0).kind == "misaligned");
  CHECK(write_finding<float>(shifted, 62).kind == "out_of_bounds");
}

TEST_CASE("accesses through null, wild, host and released pointers are findings", "[simt]") {
  CHECK(says(finding_of([] { run_block(read_at, 1, nullptr, 0L, nullptr); }), "null"));
  float on_host = 0;
  CHECK(says(finding_of([&] { run_block(read_at, 1, &on_host, 0L, nullptr); }), "no allocation"));
  const auto wild = reinterpret_cast<const float*>(std::uintptr_t{0xfedcba9876543210});
  CHECK(finding_of([&] { run_block(read_at, 1, wild, 0L, nullptr); }).kind == "out_of_bounds");
  float* gone = static_cast<float*>(simt::allocate(64, 0, "gone"));
  simt::release(gone);
  const Finding f = finding_of([&] { run_block(read_at, 1, gone, 0L, nullptr); });
  CHECK(f.kind == "out_of_bounds");
  CHECK(says(f, "'gone' (64 bytes), which was released"));
}

TEST_CASE("an empty allocation has no accessible byte", "[simt]") {
  const Buffer<char> b(0, "empty");
  CHECK(write_finding<std::uint8_t>(b, 0).kind == "out_of_bounds");
}

#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a plain access to unmapped memory is a finding, not the end of the process", "[simt]") {
  const Finding f = finding_of([] {
    run_block(
        +[](volatile float* p) { *p = 1; }, 1, static_cast<volatile float*>(nullptr));
  });
  CHECK(f.kind == "out_of_bounds");
  CHECK(says(f, "plain access"));
}
#endif

TEST_CASE("thousands of allocations come and go, and large ones lie across slots", "[simt]") {
  for (int i = 0; i < 20000; ++i) {
    auto* p = static_cast<float*>(simt::allocate(256, 0, "small"));
    p[63] = 1;
    simt::release(p);
  }
  std::vector<void*> many;
  for (int i = 0; i < 300; ++i) many.push_back(simt::allocate(100, 0, "one of many"));
  for (void* p : many) simt::release(p);

  constexpr std::size_t kBytes = 9ull << 30;
  auto* big = static_cast<char*>(simt::allocate(kBytes, 0, "big"));
  const auto touch = +[](char* p, std::size_t n) {
    st(p, 'a');
    st(p + n / 2, 'b');
    st(p + n - 1, ld(p));
  };
  CHECK(finding_of([&] { run_block(touch, 1, big, kBytes); }).kind == "none");
  CHECK(big[kBytes - 1] == 'a');
  CHECK(simt::counts(big).written_bytes == 3);
  CHECK(simt::counts(big).unique_written_bytes == 3);
  CHECK(finding_of([&] { run_block(touch, 1, big, kBytes + 1); }).kind == "out_of_bounds");
  simt::release(big);
  auto* again = static_cast<char*>(simt::allocate(kBytes, 0, "big again"));
  CHECK(simt::counts(again).unique_written_bytes == 0);
  simt::release(again);
}

TEST_CASE("memory that is used again may be longer, to the end of its last page", "[simt]") {
  for (const std::size_t bytes : {470000, 523000})
    for (int k = 0; k < 40; ++k) {  // more than are kept from use
      const Buffer<char> b(bytes);
      simt::mark_written(b.get(), bytes);
      CHECK(write_finding<std::uint8_t>(b, static_cast<long>(bytes) - 1).kind == "none");
    }
}

TEST_CASE("shared memory reads as NaN until written, in every block", "[simt]") {
  const Buffer<float> out(64);
  const auto kernel = +[](float* y) {
    float* s = shared_memory<float>(16);
    st(y + blockIdx.x * 32 + threadIdx.x, ld(s + threadIdx.x));
    st(s + threadIdx.x, 1.0f);
  };
  launch(kernel, {.grid = dim3(2), .block = dim3(32), .shared_bytes = 16 + 128}, nullptr, out.get());
  unsigned numbers = 0;
  for (std::size_t i = 0; i < out.size(); ++i) numbers += !std::isnan(out[i]);
  CHECK(numbers == 0);
}

TEST_CASE("shared memory ends where the launch's request does", "[simt]") {
  const auto kernel = +[](int at) { st(shared_memory<char>() + at, 'x'); };
  const auto run = [&](std::size_t bytes, int at) {
    return finding_of([&] { launch(kernel, {.grid = dim3(1), .block = dim3(1), .shared_bytes = bytes}, nullptr, at); });
  };
  CHECK(run(100, 99).kind == "none");
  CHECK(run(100, 100).kind == "shared_overflow");
  CHECK(run(0, 0).kind == "shared_overflow");
  CHECK(run(100, -1).kind == "shared_overflow");
  CHECK(says(run(100, 102), "3 bytes past the end of 'shared memory' (100 bytes)"));
  CHECK(run(227 * 1024, 227 * 1024 - 1).kind == "none");
  const Finding f = run(227 * 1024 + 1, 0);
  CHECK(f.kind == "bad_launch");
  CHECK(f.file.find("memory_test.cpp") != std::string::npos);
}

namespace {

// Bytes of writable memory that this process has, as a limit of its data (ulimit -d) counts them.
std::size_t data_bytes() {
  std::ifstream figures("/proc/self/statm");
  std::string skipped;
  for (int k = 0; k < 5; ++k) figures >> skipped;
  std::size_t pages = 0;
  figures >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("what was released does not count as the process's memory", "[simt]") {
  constexpr std::size_t kLarge = 64 << 20;
  {
    const Buffer<char> first(kLarge);
    std::memset(first.get(), 0, kLarge);
  }
  const std::size_t before = data_bytes();
  for (int k = 0; k < 4; ++k) {
    const Buffer<char> b(kLarge);
    run_block(write_at<char>, 1, b.get(), static_cast<long>(kLarge) - 1);
  }
  CHECK(data_bytes() < before + kLarge);
  const Buffer<char> again(kLarge);
  CHECK(data_bytes() >= before + kLarge);
}

TEST_CASE("bytes_in_use adds the requested sizes of live allocations", "[simt]") {
  const std::size_t before = simt::bytes_in_use();
  void* const small = simt::allocate(3, 2, "small");
  void* const large = simt::allocate((std::size_t{9} << 30) + 1, 0, "of several slots");
  CHECK(simt::bytes_in_use() == before + (std::size_t{9} << 30) + 4);
  simt::release(large);
  CHECK(simt::bytes_in_use() == before + 3);
  simt::release(small);
  CHECK(simt::bytes_in_use() == before);
}

TEST_CASE("an allocation of extents has their pages alone; an access between them is found", "[simt]") {
  constexpr std::size_t kApart = std::size_t{5} << 30;
  auto* p = static_cast<char*>(simt::allocate(kApart + 8, 0, "apart", {{0, 8}, {kApart, kApart + 8}}));
  p[0] = 1;
  p[kApart] = 2;
  const auto run = [&](std::size_t from) {
    return finding_of([&] {
             run_block(
                 +[](char* to, const char* x) { st(to, ld(x)); }, 1, p + 1, p + from);
           })
        .kind;
  };
  simt::reset_counts();
  CHECK_FALSE(simt::written(p));
  CHECK(run(kApart) == "none");
  CHECK(simt::written(p));
  CHECK(p[1] == 2);
  CHECK(simt::counts(p).unique_read_bytes == 1);
  CHECK(run(std::size_t{1} << 32) == "out_of_bounds");
  CHECK(run(kApart + 8) == "out_of_bounds");
  simt::release(p);
}
