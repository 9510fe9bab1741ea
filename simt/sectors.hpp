// SPDX-License-Identifier: Apache-2.0
// Counts requests and their cost: 32-byte sectors of global memory, wavefronts of shared memory.  The lanes of a warp run one
// after another here, so the n-th execution of one call on one allocation by each lane makes one request: each (call, warp, n)
// collects the addresses until all lanes have come.
// A wavefront serves one 4-byte word of each of 32 banks, to any number of lanes.  A request of up to 4 bytes a lane needs as
// many as the busiest bank has distinct words.  A request of 8 or 16 bytes a lane is made in two or four parts of 16 or 8 lanes.
// Note: lanes that reach a call unequally often may be grouped otherwise than by the hardware, which reconverges.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "arena.hpp"
#include "hooks.hpp"
#include "machine.hpp"
#include "threads.hpp"

namespace simt::detail {

struct Allocation;

class SectorLog {
 public:
  // Called after each block, since no request spans blocks.
  void end_block();
  // Called after each launch, since the next may have other call sites and allocations.
  void end_launch();
  // Counts an access by `thread` of the block, whose warp has `lanes` lanes.
  void add(std::uintptr_t address, unsigned bytes, bool write, bool shared, const Where& where, unsigned thread, unsigned lanes);
  std::vector<SiteCounts> by_site() const;
  void reset() { totals_.clear(); }

 private:
  static constexpr unsigned kRows = 32;
  struct Chunk {  // kRows consecutive requests of a warp
    unsigned visits;
    std::uint8_t used[kRows];
    std::uint32_t place[kRows][32];  // distinct sectors, in order of arrival; for shared memory the offset of each lane
  };
  struct Site {
    std::uintptr_t key = 0;
    std::uintptr_t place = 0;  // slot of the address << 1 | write
    Allocation* allocation = nullptr;
    Where where;
    bool touched = false, shared = false;
    unsigned lane_bytes = 0;
    std::uint64_t bytes = 0, requests = 0, sectors = 0, wavefronts = 0;
    std::uint32_t times[1024] = {};  // [thread] executions in this block
    std::vector<Chunk*> chunks[32];  // [warp]
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
  std::map<std::tuple<std::string, int, std::string, bool>, SiteCounts> totals_;  // of launches that have ended
};

extern SectorLog sector_log;

// Counts an access of the running thread.
inline void count_access(std::uintptr_t address, unsigned bytes, bool write, const Where& where) {
  const Thread& t = *running_thread;
  const auto lanes = static_cast<unsigned>(std::popcount(running_block.warp[t.id / kWarpLanes].exists));
  sector_log.add(address, bytes, write, is_shared(address), where, t.id, lanes);
}

// Wavefronts of one request.  offset: where each lane's bytes begin, ~0 for a lane that takes no part; bytes: a lane.
unsigned wavefronts(const std::uint32_t (&offset)[32], unsigned bytes);

}  // namespace simt::detail
