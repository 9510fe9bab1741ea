// SPDX-License-Identifier: Apache-2.0
#include "sectors.hpp"

#include <algorithm>
#include <cstring>

#include "memory.hpp"

namespace simt::detail {

SectorLog::Chunk* SectorLog::take() {
  if (free_.empty()) {
    owned_.push_back(std::make_unique_for_overwrite<Chunk>());
    free_.push_back(owned_.back().get());
  }
  Chunk* c = free_.back();
  free_.pop_back();
  c->visits = 0;
  std::memset(c->used, 0, sizeof c->used);
  std::memset(c->sectors, 0xff, sizeof c->sectors);  // no sector: 128 GiB after the start
  return c;
}

SectorLog::Site& SectorLog::site(std::uintptr_t key, std::uintptr_t allocation) {
  if (used_sites_ * 2 >= table_.size()) {
    table_.assign(std::max<std::size_t>(256, table_.size() * 2), nullptr);
    std::size_t n = used_sites_;
    used_sites_ = 0;
    for (std::size_t i = 0; i < n; ++i) {
      Site* s = sites_[i].get();
      std::size_t h = ((s->key ^ s->allocation) * 0x9e3779b97f4a7c15u) >> 32;
      while (table_[h & (table_.size() - 1)] != nullptr) ++h;
      table_[h & (table_.size() - 1)] = s;
    }
    used_sites_ = n;
  }
  std::size_t h = ((key ^ allocation) * 0x9e3779b97f4a7c15u) >> 32;
  for (;; ++h) {
    Site*& s = table_[h & (table_.size() - 1)];
    if (s == nullptr) {
      if (used_sites_ == sites_.size()) sites_.push_back(std::make_unique<Site>());
      s = sites_[used_sites_++].get();
      s->key = key, s->allocation = allocation;
      return *s;
    }
    if (s->key == key && s->allocation == allocation) return *s;
  }
}

void SectorLog::add(Allocation& a, std::uint64_t sector, bool write, const Where& where, unsigned thread, unsigned lanes) {
  Site& s = site(site_key(where), a.begin << 1 | static_cast<std::uintptr_t>(write));
  if (!s.touched) {
    s.touched = true;
    touched_.push_back(&s);
  }
  const std::uint32_t n = s.times[thread]++;
  std::vector<Chunk*>& chunks = s.chunks[thread / 32];
  if (n / kRows >= chunks.size()) chunks.resize(n / kRows + 1, nullptr);
  Chunk*& chunk = chunks[n / kRows];
  if (chunk == nullptr) chunk = take();

  const unsigned row = n % kRows, used = chunk->used[row];
  std::uint32_t* seen = chunk->sectors[row];
  const auto low = static_cast<std::uint32_t>(sector - (a.begin >> 5));
  unsigned known = used != 0 && seen[used - 1] == low;  // a neighbour's
  if (known == 0)
    for (unsigned i = 0; i < 32; ++i) known |= seen[i] == low;  // all of them: vector code, no branch
  if (known == 0) {
    seen[used] = low;
    chunk->used[row] = static_cast<std::uint8_t>(used + 1);
    a.requests[write] += used == 0;
    ++a.sectors[write];
  }
  if (++chunk->visits == kRows * lanes) {
    free_.push_back(chunk);
    chunk = nullptr;
  }
}

void SectorLog::end_block() {
  for (Site* s : touched_) {
    std::memset(s->times, 0, sizeof s->times);
    for (std::vector<Chunk*>& chunks : s->chunks) {
      for (Chunk* c : chunks)
        if (c != nullptr) free_.push_back(c);
      chunks.clear();
    }
    s->touched = false;
  }
  touched_.clear();
}

void SectorLog::clear() {
  end_block();
  std::fill(table_.begin(), table_.end(), nullptr);
  used_sites_ = 0;
}

}  // namespace simt::detail
