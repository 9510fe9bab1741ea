// SPDX-License-Identifier: Apache-2.0
// wgmma: matrix products of a warpgroup (warps 4i to 4i + 3).  B lies in shared memory, A there or in registers.
// A product starts once all 128 lanes have issued it, and runs until a lane waits for its group.  Meanwhile its accumulators hold
// a NaN, and what it reads may not be written.  The machine computes it at its start or at that wait.
// Descriptors are the hardware's (PTX ISA, "Asynchronous warpgroup level matrix instructions"): bits 0-13 start / 16, 16-29
// leading and 32-45 stride distance / 16, 62-63 the swizzle (1: 128 bytes, 2: 64, 3: 32).  A row is as wide as the swizzle; 8
// rows are contiguous, and the stride leads to the next 8.  With k innermost, a row runs along k.  With m or n innermost, a row
// is one k and runs along m or n, and the leading distance leads to the next row's width.  The swizzle XORs address bits.
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

// The arguments of one lane's call.
struct WgmmaCall {
  Element type;
  int n;
  std::uint64_t a, b;       // descriptors
  const unsigned* a_words;  // [4] of the lane; null if A lies in shared memory
  bool a_mn_major, b_mn_major, keep;
  float* acc;  // [n / 2] of the lane
  // PTX: accumulator i lies at acc[at[i] / 4], at[i] being the place of a register in the warp's file.  Null: at acc[i].
  const std::uint32_t* at = nullptr;
  float& accumulator(int i) const { return at != nullptr ? acc[at[i] / 4] : acc[i]; }
};

class Wgmma {
 public:
  void begin(unsigned thread) { begun_[thread] = true; }
  void issue(const WgmmaCall& call, Where where);  // called by each lane; returns once all 128 have come
  void commit(unsigned thread);
  void wait(unsigned thread, unsigned newest, Where where);
  void check_over();
  void clear();

  // --- For PTX, whose registers may be moved while a product runs, so that each holds a word which names its accumulator.
  // The running thread comes to a wgmma.  The last of the 128 starts it.
  void come(const WgmmaCall& call, Where where);
  std::uint64_t issued(unsigned group) const { return groups_[group].issued; }
  bool busy(unsigned group) const { return !groups_[group].active.empty(); }
  bool is_running(unsigned group, std::uint32_t word) const { return named_by(groups_[group], word) != nullptr; }
  // Waits with all lanes of a warp, and puts the results into its registers: `words` words, lane after lane.
  void wait_as_warp(unsigned warp, unsigned newest, std::uint32_t* registers, std::size_t words);

 private:
  static constexpr unsigned kLanes = 128;
  struct Accumulators {
    std::array<float*, kLanes> of_lane;
    std::vector<float> c;  // [64][n]
    int n = 0;
    std::uint64_t last = 0;  // number of the last product that adds to them
    unsigned handed = 0;     // lanes that have received their results
    std::uint32_t word = 0;  // of PTX: what accumulator 0 holds meanwhile; accumulator i holds word + i
    unsigned warps = 0;      // of PTX: bits of those that have received their results
  };
  struct Product {
    WgmmaCall call;        // of the first lane
    std::uint64_t number;  // within its warpgroup, from 0
    std::uint64_t clock;
    Accumulators* acc;
    std::vector<std::uint32_t> a_words;  // [128][4] if A is in registers
    std::vector<std::uint32_t> read;     // offsets of the 16-byte pieces of shared memory that it reads
    Where where;
    bool computed;
  };
  struct Group {  // a warpgroup
    std::array<WgmmaCall, kLanes> calls;
    unsigned came = 0;
    Where where;
    std::uint64_t issued = 0;
    std::vector<std::uint64_t> clocks;  // [product]
    std::deque<Product> running;
    std::vector<std::unique_ptr<Accumulators>> active;
  };
  void start(unsigned group, Where where);
  Accumulators& accumulators(Group& g, Where where);
  Accumulators* running(Group& g, Where where);
  static Accumulators* named_by(const Group& g, std::uint32_t word);
  std::uint64_t finish(unsigned thread, unsigned newest);
  void retire(Group& g, std::uint64_t before);
  static void compute(Product& p);
  std::array<Group, 8> groups_;
  std::array<bool, 1024> begun_{};
  std::array<std::vector<std::uint64_t>, 1024> committed_;  // [thread] products issued before each of its commits
  std::uint32_t words_ = 0;                                 // numbers of accumulators, of PTX
};

extern Wgmma wgmma_products;

}  // namespace simt::detail
