// SPDX-License-Identifier: Apache-2.0
// Places of registers: PTX has as many registers as it has values, and a warp's file should fit into a cache.  Liveness by basic
// blocks gives each register an interval of operations; a linear scan gives intervals that overlap places of their own.
// Note: a lane keeps its values where lanes that take another way write the same place, since they write their own lanes alone.
#include <algorithm>
#include <queue>

#include "flow.hpp"

namespace simt::ptx {

namespace {

struct Interval {
  std::uint32_t reg, first = kNone, last = 0;
  void cover(std::uint32_t op) {
    first = std::min(first, op);
    last = std::max(last, op);
  }
};

class Liveness {
 public:
  Liveness(const Program& program, const Graph& graph, const std::vector<std::uint32_t>& blocks,
           const std::vector<Reference>& references)
      : graph_(graph), blocks_(blocks), references_(references), registers_(program.function.registers.size()) {
    of_op_.resize(program.ops.size());
    for (std::size_t b = 0; b + 1 < blocks.size(); ++b)
      std::fill(of_op_.begin() + blocks[b], of_op_.begin() + blocks[b + 1], static_cast<std::uint32_t>(b));
    intervals_.resize(registers_);
    for (std::uint32_t r = 0; r < registers_; ++r) intervals_[r].reg = r;
    for (const Reference& r : references) intervals_[r.reg].cover(r.op);
    find_travellers(program);
    solve(program);
  }
  std::vector<Interval> intervals() && { return std::move(intervals_); }

 private:
  // A write under a guard keeps the other lanes' values, so it reads the register too.
  static bool kills(const Program& program, const Reference& r) { return r.write && program.ops[r.op].guard == 0; }

  // Numbers the registers whose values may cross the border of a block.
  void find_travellers(const Program& program) {
    traveller_.assign(registers_, kNone);
    std::vector<std::uint32_t> block(registers_, kNone);
    for (const Reference& r : references_) {
      const std::uint32_t here = of_op_[r.op];
      const bool first = block[r.reg] == kNone;
      if ((first && !kills(program, r)) || (!first && block[r.reg] != here))
        if (traveller_[r.reg] == kNone) traveller_[r.reg] = travellers_++;
      if (first) block[r.reg] = here;
    }
  }
  void solve(const Program& program) {
    const std::size_t words = (travellers_ + 63) / 64, n = graph_.blocks.size();
    std::vector<std::uint64_t> reads(n * words), writes(n * words), in(n * words);
    for (const Reference& r : references_) {
      const std::uint32_t t = traveller_[r.reg];
      if (t == kNone) continue;
      const std::size_t at = of_op_[r.op] * words + t / 64;
      const std::uint64_t bit = std::uint64_t{1} << t % 64;
      if (kills(program, r)) writes[at] |= bit;
      else if ((writes[at] & bit) == 0) reads[at] |= bit;
    }
    std::vector<std::uint64_t> out(words);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = n; b-- > 0;) {
        std::fill(out.begin(), out.end(), 0);
        for (const std::uint32_t next : graph_.blocks[b].next)
          for (std::size_t w = 0; w < words; ++w) out[w] |= in[next * words + w];
        for (std::size_t w = 0; w < words; ++w) {
          const std::uint64_t now = reads[b * words + w] | (out[w] & ~writes[b * words + w]);
          if (now != in[b * words + w]) {
            in[b * words + w] = now;
            changed = true;
          }
        }
      }
    }
    extend(in, words);
  }
  // Covers the blocks at whose start or end a register is live.
  void extend(const std::vector<std::uint64_t>& in, std::size_t words) {
    std::vector<std::uint32_t> reg_of(travellers_);
    for (std::uint32_t r = 0; r < registers_; ++r)
      if (traveller_[r] != kNone) reg_of[traveller_[r]] = r;
    const auto each = [&](std::size_t b, std::uint32_t op) {
      for (std::size_t w = 0; w < words; ++w)
        for (std::uint64_t left = in [b * words + w]; left != 0; left &= left - 1)
          intervals_[reg_of[w * 64 + static_cast<std::size_t>(__builtin_ctzll(left))]].cover(op);
    };
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
      if (blocks_[b] == blocks_[b + 1]) continue;
      each(b, blocks_[b]);
      for (const std::uint32_t next : graph_.blocks[b].next) each(next, blocks_[b + 1] - 1);
    }
  }

  const Graph& graph_;
  const std::vector<std::uint32_t>& blocks_;
  const std::vector<Reference>& references_;
  std::size_t registers_;
  std::uint32_t travellers_ = 0;
  std::vector<std::uint32_t> of_op_, traveller_;
  std::vector<Interval> intervals_;
};

}  // namespace

void place_registers(Program& program, const Graph& graph, const std::vector<std::uint32_t>& blocks,
                     const std::vector<Reference>& references) {
  std::vector<Interval> all = Liveness(program, graph, blocks, references).intervals();
  std::erase_if(all, [](const Interval& v) { return v.first == kNone; });
  std::sort(all.begin(), all.end(), [](const Interval& a, const Interval& b) { return a.first < b.first; });
  std::vector<Place> place(program.function.registers.size(), 0), free[2];
  using Ending = std::pair<std::uint32_t, std::uint32_t>;  // last operation, register
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> live;
  std::uint32_t end = kFirstRegister;
  const auto wide = [&](std::uint32_t reg) { return program.function.registers[reg] == 64; };
  for (const Interval& v : all) {
    // Note: one that ends here is not free yet, or a result might lie over its operand.
    while (!live.empty() && live.top().first < v.first) {
      free[wide(live.top().second)].push_back(place[live.top().second]);
      live.pop();
    }
    std::vector<Place>& fit = free[wide(v.reg)];
    if (fit.empty()) {
      fit.push_back(end);
      end += wide(v.reg) ? 2 * kVectorBytes : kVectorBytes;
    }
    place[v.reg] = fit.back();
    fit.pop_back();
    live.emplace(v.last, v.reg);
  }
  program.register_bytes = end;
  constexpr Place Op::*kFields[] = {&Op::d, &Op::a, &Op::b, &Op::c, &Op::guard};
  for (const Reference& r : references)
    if (r.field < 5) program.ops[r.op].*kFields[r.field] = place[r.reg];
    else program.lists[r.at] = place[r.reg];
}

}  // namespace simt::ptx
