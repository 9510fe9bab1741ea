// SPDX-License-Identifier: Apache-2.0
// Requests, and what each costs: 32-byte sectors of global memory, wavefronts of shared memory.  The n-th time each lane of a
// warp executes one call on one allocation is one request: the lanes run one after another here, so each (call, warp, n)
// collects what they ask for until all lanes have been there.
// A wavefront takes one 4-byte word of each of 32 banks, to any lanes: a request of up to 4 bytes a lane needs as many as the
// bank with the most distinct words has; one of 8 or 16 bytes goes as two or four parts of 16 or 8 lanes.
// Note: lanes that reach a call unequally often may be grouped otherwise than the hardware would, which reconverges.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "hooks.hpp"
#include "machine.hpp"

namespace simt::detail {

struct Allocation;

class SectorLog {
 public:
  // Between blocks: requests do not span them.
  void end_block();
  // After a launch: call sites and allocations may differ in the next.
  void end_launch();
  // `thread` of the block, in a warp of `lanes` lanes, accesses bytes of an allocation.
  void add(std::uintptr_t address, unsigned bytes, bool write, bool shared, const Where& where, unsigned thread, unsigned lanes);
  std::vector<SiteCounts> by_site() const;
  void reset() { totals_.clear(); }

 private:
  static constexpr unsigned kRows = 32;
  struct Chunk {  // of consecutive requests
    unsigned visits;
    std::uint8_t used[kRows];
    std::uint32_t place[kRows][32];  // sectors, in the order they came; or a lane's offset in shared memory
  };
  struct Site {
    std::uintptr_t key = 0;
    std::uintptr_t place = 0;  // slot of the address, and the direction in bit 0
    Allocation* allocation = nullptr;
    Where where;
    bool touched = false, shared = false;
    unsigned lane_bytes = 0;
    std::uint64_t bytes = 0, requests = 0, sectors = 0, wavefronts = 0;
    std::uint32_t times[1024] = {};  // by thread
    std::vector<Chunk*> chunks[32];  // by warp
  };
  Site& site(const Where& where, std::uintptr_t place);
  Chunk* take();
  void give(Site& s, Chunk* c);

  std::vector<Site*> table_;  // open addressing, a power of two
  std::vector<std::unique_ptr<Site>> sites_;
  std::size_t used_sites_ = 0;
  std::vector<Site*> touched_;
  std::vector<std::unique_ptr<Chunk>> owned_;
  std::vector<Chunk*> free_;
  std::map<std::tuple<std::string, int, std::string, bool>, SiteCounts> totals_;  // of the launches that ended
};

// Of one request: where each lane's bytes begin; ~0 for a lane without.
unsigned wavefronts(const std::uint32_t (&offset)[32], unsigned bytes);

}  // namespace simt::detail
