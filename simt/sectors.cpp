// SPDX-License-Identifier: Apache-2.0
#include "sectors.hpp"

#include <algorithm>
#include <cstring>

#include "memory.hpp"

namespace simt::detail {

SectorLog sector_log;

constexpr std::uint32_t kNowhere = 0xffffffff;  // beyond every sector (128 GiB after the start) and every offset

unsigned wavefronts(const std::uint32_t (&offset)[32], unsigned bytes) {
  constexpr unsigned kBanks = 32;
  const unsigned lanes = bytes <= 4 ? 32 : 128 / bytes, words = bytes <= 4 ? 1 : bytes / 4;
  unsigned total = 0;
  for (unsigned first = 0; first < 32; first += lanes) {
    std::uint32_t least = kNowhere, last = 0;
    for (unsigned lane = first; lane < first + lanes; ++lane)
      if (offset[lane] != kNowhere) {
        least = std::min(least, offset[lane] / 4);
        last = std::max(last, offset[lane] / 4 + words);
      }
    if (last <= least + kBanks) {  // the usual case, at most 32 neighbouring words: no bank has two
      total += last != 0;
      continue;
    }
    std::uint32_t seen[kBanks][32];
    unsigned count[kBanks] = {}, most = 0;
    for (unsigned lane = first; lane < first + lanes; ++lane) {
      if (offset[lane] == kNowhere) continue;
      for (unsigned w = 0; w < words; ++w) {
        const std::uint32_t word = offset[lane] / 4 + w;
        const unsigned bank = word % kBanks;
        if (std::find(seen[bank], seen[bank] + count[bank], word) != seen[bank] + count[bank]) continue;
        seen[bank][count[bank]++] = word;
        most = std::max(most, count[bank]);
      }
    }
    total += most;
  }
  return total;
}

SectorLog::Chunk* SectorLog::take() {
  if (free_.empty()) {
    owned_.push_back(std::make_unique_for_overwrite<Chunk>());
    free_.push_back(owned_.back().get());
  }
  Chunk* c = free_.back();
  free_.pop_back();
  c->visits = 0;
  std::memset(c->used, 0, sizeof c->used);
  std::memset(c->place, 0xff, sizeof c->place);
  return c;
}

// Counts and frees a chunk to which no lane will add any more.
void SectorLog::give(Site& s, Chunk* c) {
  if (s.shared)
    for (unsigned row = 0; row < kRows; ++row)
      if (c->used[row] != 0) {
        ++s.requests;
        s.wavefronts += wavefronts(c->place[row], s.lane_bytes);
      }
  free_.push_back(c);
}

SectorLog::Site& SectorLog::site(const Where& where, std::uintptr_t place) {
  const std::uintptr_t key = site_key(where);
  if (used_sites_ * 2 >= table_.size()) {
    table_.assign(std::max<std::size_t>(256, table_.size() * 2), nullptr);
    std::size_t n = used_sites_;
    used_sites_ = 0;
    for (std::size_t i = 0; i < n; ++i) {
      Site* s = sites_[i].get();
      std::size_t h = ((s->key ^ s->place << 40) * 0x9e3779b97f4a7c15u) >> 32;
      while (table_[h & (table_.size() - 1)] != nullptr) ++h;
      table_[h & (table_.size() - 1)] = s;
    }
    used_sites_ = n;
  }
  std::size_t h = ((key ^ place << 40) * 0x9e3779b97f4a7c15u) >> 32;
  for (;; ++h) {
    Site*& s = table_[h & (table_.size() - 1)];
    if (s == nullptr) {
      if (used_sites_ == sites_.size()) sites_.push_back(std::make_unique<Site>());
      s = sites_[used_sites_++].get();
      s->key = key;
      s->place = place;
      s->where = where;
      s->allocation = find_allocation(place >> 1 << 32);
      s->bytes = s->requests = s->sectors = s->wavefronts = 0;
      return *s;
    }
    if (s->key == key && s->place == place) return *s;
  }
}

void SectorLog::add(std::uintptr_t address, unsigned bytes, bool write, bool shared, const Where& where, unsigned thread,
                    unsigned lanes) {
  Site& s = site(where, address >> 32 << 1 | static_cast<std::uintptr_t>(write));
  Allocation& a = *s.allocation;
  if (!s.touched) {
    s.touched = true;
    touched_.push_back(&s);
    s.shared = shared;
    s.lane_bytes = bytes;
  }
  s.bytes += bytes;
  const std::uint32_t n = s.times[thread]++;
  std::vector<Chunk*>& chunks = s.chunks[thread / 32];
  if (n / kRows >= chunks.size()) chunks.resize(n / kRows + 1, nullptr);
  Chunk*& chunk = chunks[n / kRows];
  if (chunk == nullptr) chunk = take();

  const unsigned row = n % kRows, used = chunk->used[row];
  std::uint32_t* seen = chunk->place[row];
  if (shared) {
    seen[thread % 32] = static_cast<std::uint32_t>(address - a.begin);
    chunk->used[row] = 1;
  } else {
    const auto low = static_cast<std::uint32_t>((address >> 5) - (a.begin >> 5));
    unsigned known = used != 0 && seen[used - 1] == low;  // the lane before had it
    if (known == 0)
      for (unsigned i = 0; i < 32; ++i) known |= seen[i] == low;  // Note: a loop over all 32 is vector code without a branch
    if (known == 0) {
      seen[used] = low;
      chunk->used[row] = static_cast<std::uint8_t>(used + 1);
      a.requests[write] += used == 0;
      s.requests += used == 0;
      ++a.sectors[write];
      ++s.sectors;
    }
  }
  if (++chunk->visits == kRows * lanes) {
    give(s, chunk);
    chunk = nullptr;
  }
}

void SectorLog::end_block() {
  for (Site* s : touched_) {
    std::memset(s->times, 0, sizeof s->times);
    for (std::vector<Chunk*>& chunks : s->chunks) {
      for (Chunk* c : chunks)
        if (c != nullptr) give(*s, c);
      chunks.clear();
    }
    s->touched = false;
  }
  touched_.clear();
}

void SectorLog::end_launch() {
  end_block();
  for (std::size_t i = 0; i < used_sites_; ++i) {
    const Site& s = *sites_[i];
    const std::string& name = s.allocation->name;
    SiteCounts& c = totals_[{s.where.file_name(), static_cast<int>(s.where.line()), name, s.place & 1}];
    c.file = s.where.file_name();
    c.line = static_cast<int>(s.where.line());
    c.allocation = name;
    c.write = s.place & 1;
    c.bytes += s.bytes;
    c.requests += s.requests;
    c.sectors += s.sectors;
    c.wavefronts += s.wavefronts;
  }
  std::fill(table_.begin(), table_.end(), nullptr);
  used_sites_ = 0;
}

std::vector<SiteCounts> SectorLog::by_site() const {
  std::vector<SiteCounts> all;
  for (const auto& [place, counts] : totals_) all.push_back(counts);
  return all;
}

}  // namespace simt::detail

namespace simt {

std::vector<SiteCounts> site_counts() { return detail::sector_log.by_site(); }

}  // namespace simt
