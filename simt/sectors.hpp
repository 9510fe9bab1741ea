// SPDX-License-Identifier: Apache-2.0
// Requests and 32-byte sectors.  The n-th time each lane of a warp executes one call on one allocation is one request: the
// lanes run one after another here, so each (call, warp, n) collects its distinct sectors until all lanes have been there.
// Note: lanes that reach a call unequally often may be grouped otherwise than the hardware would, which reconverges.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hooks.hpp"

namespace simt::detail {

struct Allocation;

class SectorLog {
 public:
  // Between blocks: requests do not span them.
  void end_block();
  // Between launches: call sites and allocations may differ.
  void clear();
  // `thread` of the block, in a warp of `lanes` lanes, accesses `sector` = address / 32.
  void add(Allocation& a, std::uint64_t sector, bool write, const Where& where, unsigned thread, unsigned lanes);

 private:
  static constexpr unsigned kRows = 32;
  struct Chunk {  // of consecutive requests
    unsigned visits;
    std::uint8_t used[kRows];
    std::uint32_t sectors[kRows][32];
  };
  struct Site {
    std::uintptr_t key = 0;
    std::uintptr_t allocation = 0;  // and the direction in bit 0
    bool touched = false;
    std::uint32_t times[1024] = {};  // by thread
    std::vector<Chunk*> chunks[32];  // by warp
  };
  Site& site(std::uintptr_t key, std::uintptr_t allocation);
  Chunk* take();

  std::vector<Site*> table_;  // open addressing, a power of two
  std::vector<std::unique_ptr<Site>> sites_;
  std::size_t used_sites_ = 0;
  std::vector<Site*> touched_;
  std::vector<std::unique_ptr<Chunk>> owned_;
  std::vector<Chunk*> free_;
};

}  // namespace simt::detail
