// SPDX-License-Identifier: Apache-2.0
#include "wgmma.hpp"

#include <algorithm>
#include <bit>

#include "arena.hpp"
#include "async.hpp"
#include "asynchronous.hpp"
#include "device_hopper.hpp"
#include "findings.hpp"
#include "grid.hpp"
#include "guards.hpp"
#include "options.hpp"
#include "scheduler.hpp"
#include "threads.hpp"
#include "watch.hpp"
#include "wgmma_operands.hpp"

namespace simt::detail {

Wgmma wgmma_products;

namespace {

constexpr std::uint32_t kRunning = 0x7fffdeadu;  // a NaN, which accumulators hold while a product runs
// Signalling NaNs, which no arithmetic gives, hold the same place in PTX: 15 bits of a number, 7 of an index.
constexpr std::uint32_t kRunningWords = 0xff800000u, kWordsOfOne = 128, kNumbers = 0x7fff;
int bytes_of(Element e) { return e == Element::tf32 ? 4 : 2; }

std::string descriptor_text(std::uint64_t bits) {
  const Descriptor d(bits);
  return "start " + std::to_string(d.start) + ", leading distance " + std::to_string(d.leading) + ", stride " +
         std::to_string(d.stride) + ", swizzle " + std::to_string(d.width);
}

void check_descriptor(const char* operand, std::uint64_t bits, int rows, bool mn_major, int element_bytes, Where where) {
  const Descriptor d(bits);
  const auto refuse = [&](const std::string& why) {
    stop_with("bad_descriptor", std::string(operand) + " of a wgmma: " + why + " (" + descriptor_text(bits) + ")", where);
  };
  if (d.width == 0) refuse("tiles without a swizzle are not simulated");
  if ((bits >> 46 & 0xffff) != 0 || (bits >> 14 & 3) != 0 || (bits >> 30 & 3) != 0) refuse("unused bits are set");
  if (mn_major && element_bytes != 2) refuse("only 16-bit elements may have m or n innermost");
  // Note: a step of k moves the start within a swizzled row, but never to another row.
  const std::size_t in_atom = d.start % (8 * d.width);
  if (mn_major ? in_atom % (8 * d.width) != 0 : in_atom + 32 > d.width)
    refuse("it does not start in the first row of a swizzle's eight");
  std::size_t last = 0;
  for (const std::uint32_t at : pieces(d, rows, mn_major, element_bytes)) last = std::max<std::size_t>(last, at);
  if (last + 16 > running_launch.grid->shared_bytes)
    refuse("it ends at +" + std::to_string(last + 16) + ", past the " + std::to_string(running_launch.grid->shared_bytes) +
           " bytes of shared memory");
}

// Row and column of element i of a lane's accumulators.
int row_of(unsigned lane, int i) { return static_cast<int>(lane / 32 * 16 + lane % 32 / 4) + 8 * (i / 2 % 2); }
int column_of(unsigned lane, int i) { return i / 4 * 8 + static_cast<int>(lane % 4) * 2 + i % 2; }

unsigned engine_of(unsigned group) { return watch.engine(group); }

}  // namespace

void Wgmma::issue(const WgmmaCall& call, Where where) {
  const unsigned group = running_thread->id / kLanes;
  const std::uint64_t before = groups_[group].issued;
  wait_as(Meet::wgmma, group, where);
  come(call, where);
  if (groups_[group].issued != before)
    for (unsigned i = 0; i < kLanes; ++i) make_ready(group * kLanes + i);
  run_others();
}

void Wgmma::come(const WgmmaCall& call, Where where) {
  const unsigned me = running_thread->id, group = me / kLanes;
  Group& g = groups_[group];
  if ((group + 1) * kLanes > running_block.threads)
    stop_with("bad_mma",
              "wgmma by a warp whose warpgroup is not whole: the block has " + std::to_string(running_block.threads) + " threads",
              where);
  if (g.came == 0) g.where = where;
  g.calls[me % kLanes] = call;
  if (g.came != 0 && !same_site(g.where, where)) stop_with("bad_mma", "wgmma by different calls in one warpgroup", where);
  if (++g.came < kLanes) return;
  start(group, where);
  g.came = 0;
}

void Wgmma::start(unsigned group, Where where) {
  Group& g = groups_[group];
  const WgmmaCall& call = g.calls[0];
  for (const WgmmaCall& c : g.calls)
    if (c.a != call.a || c.b != call.b || c.n != call.n || c.type != call.type || c.keep != call.keep)
      stop_with("bad_mma", "wgmma whose descriptors are not the same in all lanes of the warpgroup", where);
  const int size = bytes_of(call.type);
  Product p{.call = call,
            .number = g.issued++,
            .clock = 0,
            .acc = nullptr,
            .a_words = {},
            .read = {},
            .where = where,
            .computed = false};
  if (call.a_words == nullptr) {
    check_descriptor("A", call.a, kWgmmaRows, call.a_mn_major, size, where);
    p.read = pieces(Descriptor(call.a), kWgmmaRows, call.a_mn_major, size);
  } else {
    for (const WgmmaCall& c : g.calls) p.a_words.insert(p.a_words.end(), c.a_words, c.a_words + 4);
  }
  check_descriptor("B", call.b, call.n, call.b_mn_major, size, where);
  const std::vector<std::uint32_t> b_pieces = pieces(Descriptor(call.b), call.n, call.b_mn_major, size);
  p.read.insert(p.read.end(), b_pieces.begin(), b_pieces.end());

  const auto arena = arena_begin();
  for (const std::uint32_t at : p.read) {
    if (guards.untouchable(at, 16))
      stop_with("in_flight", "wgmma reads at +" + std::to_string(at) + " of shared memory, which a copy may still be writing",
                where);
    if (async_copies.in_flight()) check_not_in_flight(arena + at, 16, false, where);
    guards.read_begins(at, 16);
  }
  if (options.watch) {
    for (unsigned lane = 0; lane < kLanes; lane += 32)  // Note: a warp arrives as a whole, so one lane stands for all
      for (const std::uint32_t at : p.read) watch.begin(group * kLanes + lane, arena + at, 16, false, where);
    p.clock = watch.advance();
    for (const std::uint32_t at : p.read) watch.done(engine_of(group), p.clock, arena + at, 16, false, where);
  }
  for (const std::uint32_t at : p.read) check_fenced(at, 16, false, where);
  p.acc = &accumulators(g, where);
  p.acc->last = p.number;
  g.clocks.push_back(p.clock);
  g.running.push_back(std::move(p));
  if (!as_late_as_may_be())
    for (Product& each : g.running) compute(each);
}

Wgmma::Accumulators* Wgmma::named_by(const Group& g, std::uint32_t word) {
  if (word < kRunningWords + kWordsOfOne || word >= kRunningWords + (kNumbers + 1) * kWordsOfOne) return nullptr;
  for (const auto& a : g.active)
    if (a->word == word / kWordsOfOne * kWordsOfOne) return a.get();
  return nullptr;
}

// The accumulators of a running product that the lanes name; null: these are others.
Wgmma::Accumulators* Wgmma::running(Group& g, Where where) {
  const WgmmaCall& call = g.calls[0];
  const auto refuse = [&] { stop_with("wgmma_registers", "accumulators of a running wgmma were written", where); };
  if (call.at != nullptr) {
    Accumulators* const a = named_by(g, std::bit_cast<std::uint32_t>(call.accumulator(0)));
    const auto holds_each = [&](auto test) {
      for (const WgmmaCall& c : g.calls)
        for (int i = 0; i < call.n / 2; ++i)
          if (!test(std::bit_cast<std::uint32_t>(c.accumulator(i)), static_cast<std::uint32_t>(i))) return false;
      return true;
    };
    if (a != nullptr && a->n == call.n && holds_each([&](std::uint32_t word, std::uint32_t i) { return word == a->word + i; }))
      return a;
    if (call.keep && !holds_each([&](std::uint32_t word, std::uint32_t) { return named_by(g, word) == nullptr; })) refuse();
    return nullptr;
  }
  const auto unchanged = [&](const float* acc) {
    for (int i = 0; i < call.n / 2; ++i)
      if (std::bit_cast<std::uint32_t>(acc[i]) != kRunning) return false;
    return true;
  };
  for (const auto& a : g.active) {
    if (a->of_lane[0] != call.acc) continue;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if (a->n != call.n || a->of_lane[lane] != g.calls[lane].acc || !unchanged(g.calls[lane].acc)) refuse();
    return a.get();
  }
  return nullptr;
}

// Returns the accumulators that the lanes name.  They are copied from the registers, unless a running product has them already.
Wgmma::Accumulators& Wgmma::accumulators(Group& g, Where where) {
  const WgmmaCall& call = g.calls[0];
  Accumulators* const same = running(g, where);
  if (same != nullptr && (call.keep || call.at == nullptr)) return *same;
  const unsigned first = static_cast<unsigned>(&g - groups_.data()) * kLanes;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (!begun_[first + lane] && same == nullptr)
      stop_with("wgmma_unordered", "no wgmma_begin orders this wgmma after what was done to its registers", where);
  auto a = std::make_unique<Accumulators>();
  a->n = call.n;
  a->c.resize(static_cast<std::size_t>(kWgmmaRows * call.n));
  if (call.at != nullptr) a->word = kRunningWords + (words_ = words_ % kNumbers + 1) * kWordsOfOne;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const WgmmaCall& mine = g.calls[lane];
    a->of_lane[lane] = mine.acc;
    for (int i = 0; i < call.n / 2; ++i) {
      float& acc = mine.accumulator(i);
      if (call.keep) a->c[static_cast<std::size_t>(row_of(lane, i) * call.n + column_of(lane, i))] = acc;
      acc = std::bit_cast<float>(a->word != 0 ? a->word + static_cast<std::uint32_t>(i) : kRunning);
    }
  }
  g.active.push_back(std::move(a));
  return *g.active.back();
}

void Wgmma::compute(Product& p) {
  if (p.computed) return;
  p.computed = true;
  const WgmmaCall& call = p.call;
  std::vector<float>& c = p.acc->c;
  if (!call.keep) std::fill(c.begin(), c.end(), 0.0f);
  const auto* arena = static_cast<const unsigned char*>(shared_memory.begin);
  std::vector<std::uint32_t> a;
  if (call.a_words == nullptr) {
    a = gathered(Descriptor(call.a), kWgmmaRows, call.a_mn_major, arena);
  } else {
    a.resize(kWgmmaRows * 8);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned i = 0; i < 4; ++i)
        a[(lane / 32 * 16 + lane % 32 / 4 + 8 * (i % 2)) * 8 + lane % 4 + 4 * (i / 2)] = p.a_words[lane * 4 + i];
  }
  const std::vector<std::uint32_t> b = gathered(Descriptor(call.b), call.n, call.b_mn_major, arena);
  multiply(call.type, a.data(), b.data(), c.data(), call.n);
}

void Wgmma::commit(unsigned thread) { committed_[thread].push_back(groups_[thread / kLanes].issued); }

// Completes the products before this number; what they read may be written again.
void Wgmma::retire(Group& g, std::uint64_t before) {
  while (!g.running.empty() && g.running.front().number < before) {
    Product& p = g.running.front();
    compute(p);
    for (const std::uint32_t at : p.read) guards.read_ends(at, 16);
    g.running.pop_front();
  }
}

// Completes the products of a thread's groups but for the newest.  Returns the number of the first that is not complete, or 0.
std::uint64_t Wgmma::finish(unsigned thread, unsigned newest) {
  std::vector<std::uint64_t>& mine = committed_[thread];
  begun_[thread] = false;
  if (mine.size() <= newest) return 0;
  const std::uint64_t before = mine[mine.size() - 1 - newest];
  mine.erase(mine.begin(), mine.end() - static_cast<std::ptrdiff_t>(newest));
  Group& g = groups_[thread / kLanes];
  retire(g, before);
  if (options.watch && before != 0) watch.know(thread, engine_of(thread / kLanes), g.clocks[before - 1]);
  return before;
}

void Wgmma::wait_as_warp(unsigned warp, unsigned newest, std::uint32_t* registers, std::size_t words) {
  std::uint64_t before = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i) before = finish(warp * kWarpLanes + i, newest);
  Group& g = groups_[warp / 4];
  for (auto at = g.active.begin(); at != g.active.end();) {
    Accumulators& a = **at;
    if (a.last >= before || (a.warps >> warp % 4 & 1) != 0) {
      ++at;
      continue;
    }
    for (std::size_t k = 0; k < words; k += kWarpLanes) {
      bool any = false;
      for (std::size_t i = k; i < k + kWarpLanes; ++i) any |= registers[i] / kWordsOfOne * kWordsOfOne == a.word;
      for (std::size_t i = k; any && i < k + kWarpLanes; ++i) {
        if (registers[i] / kWordsOfOne * kWordsOfOne != a.word) continue;
        const unsigned lane = warp % 4 * kWarpLanes + static_cast<unsigned>(i % kWarpLanes);
        const auto of = static_cast<int>(registers[i] % kWordsOfOne);
        registers[i] = std::bit_cast<std::uint32_t>(a.c[static_cast<std::size_t>(row_of(lane, of) * a.n + column_of(lane, of))]);
      }
    }
    a.warps |= 1u << warp % 4;
    if (a.warps == 15) at = g.active.erase(at);
    else ++at;
  }
}

void Wgmma::wait(unsigned thread, unsigned newest, Where where) {
  const std::uint64_t before = finish(thread, newest);
  Group& g = groups_[thread / kLanes];
  const unsigned lane = thread % kLanes;
  for (auto a = g.active.begin(); a != g.active.end();) {
    Accumulators& acc = **a;
    float* const registers = acc.of_lane[lane];
    if (acc.last >= before || registers == nullptr) {
      ++a;
      continue;
    }
    for (int i = 0; i < acc.n / 2; ++i) {
      if (std::bit_cast<std::uint32_t>(registers[i]) != kRunning)
        stop_with("wgmma_registers", "an accumulator was written before wgmma_wait", where);
      registers[i] = acc.c[static_cast<std::size_t>(row_of(lane, i) * acc.n + column_of(lane, i))];
    }
    acc.of_lane[lane] = nullptr;
    if (++acc.handed == kLanes) a = g.active.erase(a);
    else ++a;
  }
}

void Wgmma::check_over() {
  for (unsigned group = 0; group < groups_.size(); ++group) {
    const Group& g = groups_[group];
    if (!g.running.empty())
      return left_behind("the block ends before a thread has waited for a wgmma", group * kLanes, g.running.front().where);
    for (const auto& a : g.active)
      for (unsigned lane = 0; lane < kLanes; ++lane)
        if (a->word != 0 ? (a->warps >> lane / 32 & 1) == 0 : a->of_lane[lane] != nullptr)
          return left_behind("a thread ends without a wait for its warpgroup's wgmma", group * kLanes + lane, g.where);
  }
}

void Wgmma::clear() {
  for (Group& g : groups_) {
    g.running.clear();
    g.active.clear();
    g.came = 0;
    g.issued = 0;
    g.clocks.clear();
  }
  begun_.fill(false);
  for (auto& each : committed_) each.clear();
}

// --- The words --------------------------------------------------------------------------------------------------------

void wgmma(const WgmmaCall& call, Where where) {
  if (--hot.ticks < 0) tick(where);
  use_asynchronous(where);
  wgmma_products.issue(call, where);
}
void wgmma_begin() { wgmma_products.begin(running_thread->id); }
void wgmma_commit() { wgmma_products.commit(running_thread->id); }
void wgmma_wait(unsigned newest, Where where) {
  if (--hot.ticks < 0) tick(where);
  wgmma_products.wait(running_thread->id, newest, where);
}

}  // namespace simt::detail
