// SPDX-License-Identifier: Apache-2.0
// wgmma: the products of a warpgroup, four warps that start at a multiple of four, with B and mostly A in shared memory.
// It begins once all 128 lanes have come, and goes on until a lane waits for the group that it was committed to.  Meanwhile its
// accumulators hold a NaN, what it reads is not to be written, and here it is computed at once or at that wait.
// A descriptor is the hardware's: bits 0-13 start / 16, 16-29 leading and 32-45 stride distance / 16, 62-63 the swizzle
// (1: 128 bytes, 2: 64, 3: 32).  With k innermost, 8 rows of a swizzle's width lie together and the stride leads to the next 8;
// with m or n innermost, 8 k of such a row lie together, the stride leads to the next 8 k, the leading distance to the next row's
// width.  Swizzled are bits of the address itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "hooks.hpp"
#include "where.hpp"

namespace simt::detail {

enum class Element : std::uint8_t { half, bfloat16, tf32 };

// What a call gives.
struct WgmmaCall {
  Element type;
  int n;
  std::uint64_t a, b;          // descriptors
  const unsigned* a_words;     // of the lane; null: A lies in shared memory
  bool a_mn_major, b_mn_major, keep;
  float* acc;                  // [n / 2] of the lane
};

class Wgmma {
 public:
  void begin(unsigned thread) { begun_[thread] = true; }
  void issue(const WgmmaCall& call, Where where);  // by the running lane; goes on once all 128 have come
  void commit(unsigned thread);
  void wait(unsigned thread, unsigned newest, Where where);
  void check_over();
  void clear();

 private:
  static constexpr unsigned kLanes = 128;
  struct Accumulators {
    std::array<float*, kLanes> of_lane;
    std::vector<float> c;          // [64][n]
    int n = 0;
    std::uint64_t last = 0;        // the last product for them
    unsigned handed = 0;           // lanes that have their results
  };
  struct Product {
    WgmmaCall call;                // of the first lane
    std::uint64_t number;          // of its warpgroup
    std::uint64_t clock;
    Accumulators* acc;
    std::vector<std::uint32_t> a_words;  // [128][4], where A is in registers
    std::vector<std::uint32_t> read;     // offsets of the 16-byte pieces of shared memory
    Where where;
    bool computed;
  };
  struct Group {  // a warpgroup
    std::array<WgmmaCall, kLanes> calls;
    unsigned came = 0;
    Where where;
    std::uint64_t issued = 0;
    std::vector<std::uint64_t> clocks;  // of each product
    std::deque<Product> running;
    std::vector<std::unique_ptr<Accumulators>> active;
  };
  void start(unsigned group, Where where);
  Accumulators& accumulators(Group& g, Where where);
  void retire(Group& g, std::uint64_t before);
  static void compute(Product& p);
  std::array<Group, 8> groups_;
  std::array<bool, 1024> begun_{};
  std::array<std::vector<std::uint64_t>, 1024> committed_;  // by lane: products issued when it committed
};

}  // namespace simt::detail
