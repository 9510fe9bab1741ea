// SPDX-License-Identifier: Apache-2.0
// Plants plain accesses: each kernel but the last bypasses ld and st once, in one way, and must be found (observe.cpp).
// Note: this is a program of its own, since its kernels have other compiler flags, which the test framework must not have.
#include <cstdio>
#include <string>

#include "device.hpp"
#include "machine.hpp"

namespace {

using namespace simt::device;

struct Tile {
  float row[4];
  float after[4];
};

constexpr int kFirst = __LINE__ + 1;
void reads_plainly(float* p, int) { st(p, p[1]); }
void writes_plainly(float* p, int) { p[2] = 1.0f; }
void writes_shared(float*, int) { shared_memory<float>()[3] = 1.0f; }
void copies_struct(float* p, int) { *reinterpret_cast<Vec<float, 4>*>(p) = Vec<float, 4>{}; }
void increments(float* p, int) { ++*reinterpret_cast<int*>(p); }
// Note: index 4, one past the end, is no finding, since C++ allows its address.
void leaves_its_row(float*, int at) { st(&shared_memory<Tile>()->row[at], 1.0f); }
void keeps_the_rules(float* p, int at) {
  float local[4] = {1, 2, 3, 4};
  for (int i = 0; i < 4; ++i) local[i] += ld(p + i);
  st(shared_memory<float>() + at, local[at & 3]);
  sync_block();
  st(p + at, ld(shared_memory<float>() + at));
  atomic_add(p, 1.0f);
}

int failures = 0;

void expect(const char* name, void (*kernel)(float*, int), int at, const std::string& kind, int line, const char* text) {
  auto* p = static_cast<float*>(simt::allocate(64, 0, "p"));
  for (int i = 0; i < 16; ++i) p[i] = 0;
  simt::mark_written(p, 64);
  simt::configure({.watch = true});
  simt::Finding f{"none", "", "", 0};
  try {
    launch(kernel, {.grid = dim3(1), .block = dim3(1), .shared_bytes = 64}, nullptr, p, at);
  } catch (const simt::Fault& fault) {
    f = fault.finding();
  }
  simt::release(p);
  const bool right = f.kind == kind && f.message.find(text) != std::string::npos && (line == 0 || f.line == line);
  std::printf("%-16s %s: %s [%s:%d]%s\n", name, f.kind.c_str(), f.message.c_str(), f.file.c_str(), f.line,
              right ? "" : "  WRONG");
  failures += !right;
}

}  // namespace

int main() {
  expect("reads_plainly", reads_plainly, 0, "plain_access", kFirst,
         "a plain read of 4 bytes at byte 4 of 'p' (64 bytes), made without ld or st, by block");
  expect("writes_plainly", writes_plainly, 0, "plain_access", kFirst + 1, "a plain write of 4 bytes at byte 8 of 'p'");
  expect("writes_shared", writes_shared, 0, "plain_access", kFirst + 2, "a plain write of 4 bytes at byte 12 of 'shared memory'");
  expect("copies_struct", copies_struct, 0, "plain_access", kFirst + 3, "a plain write of 16 bytes at byte 0 of 'p'");
  expect("increments", increments, 0, "plain_access", kFirst + 4, "a plain read of 4 bytes");
  expect("leaves_its_row", leaves_its_row, 5, "out_of_bounds", kFirst + 6, "an index outside its array");
  expect("leaves_its_row", leaves_its_row, 3, "none", 0, "");
  expect("keeps_the_rules", keeps_the_rules, 2, "none", 0, "");
  return failures != 0;
}
