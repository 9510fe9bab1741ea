// SPDX-License-Identifier: Apache-2.0
#include "flow.hpp"

#include <algorithm>
#include <string_view>

namespace simt::ptx {

namespace {

enum class Ending : std::uint8_t { none, branch, exit };

struct Reader {
  const Module& module;
  const Function& f;
  std::string_view opcode(const Instruction& i) const { return module.names[i.opcode]; }
  Ending ending(const Instruction& i) const {
    const std::string_view name = opcode(i);
    if (name == "ret" || name == "exit" || name == "ret.uni" || name == "trap") return Ending::exit;
    return name == "bra" || name == "bra.uni" ? Ending::branch : Ending::none;
  }
  std::uint32_t target(const Instruction& i) const {
    const bool labelled = i.count == 1 && f.operands[i.first].kind == Operand::Kind::label;
    return labelled ? f.operands[i.first].id : kNone;
  }
};

std::vector<std::uint8_t> beginnings(const Reader& r) {
  std::vector<std::uint8_t> begins(r.f.code.size() + 1, 0);
  begins[0] = 1;
  for (const Operand& o : r.f.operands)
    if (o.kind == Operand::Kind::label) begins[o.id] = 1;
  for (std::size_t i = 0; i < r.f.code.size(); ++i)
    if (r.ending(r.f.code[i]) != Ending::none) begins[i + 1] = 1;
  begins.back() = 1;  // the implicit end
  return begins;
}

void connect(Graph& g, const Reader& r) {
  for (std::uint32_t b = 0; b < g.blocks.size(); ++b) {
    Block& block = g.blocks[b];
    if (block.first == block.end) continue;  // the implicit end
    const Instruction& last = r.f.code[block.end - 1];
    const Ending ending = r.ending(last);
    if (ending == Ending::branch)
      if (const std::uint32_t target = r.target(last); target != kNone) block.next.push_back(g.block_at[target]);
    if ((ending == Ending::none || last.guard >= 0) && b + 1 < g.blocks.size()) block.next.push_back(b + 1);
  }
}

// Whether the block does nothing but end its threads.
bool only_ends(const Block& block, const Reader& r) {
  if (block.first == block.end) return true;
  return block.end - block.first == 1 && r.ending(r.f.code[block.first]) == Ending::exit && r.f.code[block.first].guard < 0;
}

// Immediate post-dominators (Cooper, Harvey and Kennedy 2001, on the reversed graph).  A way that only ends its threads is left
// out where there is another: threads that have ended are not waited for.
class Meetings {
 public:
  Meetings(Graph& g, const Reader& r) : g_(g), end_(static_cast<std::uint32_t>(g.blocks.size())), next_(g.blocks.size()) {
    for (std::uint32_t b = 0; b < end_; ++b) {
      for (const std::uint32_t n : g.blocks[b].next)
        if (!only_ends(g.blocks[n], r)) next_[b].push_back(n);
      if (next_[b].empty()) next_[b] = g.blocks[b].next;
      if (next_[b].empty()) next_[b].push_back(end_);
    }
  }
  void find() {
    number();
    // A loop that only ends its threads has no other way out, so it keeps that one.
    for (std::uint32_t b = 0; b < end_; ++b)
      if (at_[b] == kNone && !g_.blocks[b].next.empty()) next_[b] = g_.blocks[b].next;
    order_.clear();
    number();
    std::vector<std::uint32_t> dominator(end_ + 1, kNone);
    dominator[end_] = end_;
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::uint32_t b : order_) {
        if (b == end_) continue;
        std::uint32_t best = kNone;
        for (const std::uint32_t n : next_[b])
          if (dominator[n] != kNone) best = best == kNone ? n : common(n, best, dominator);
        if (best != dominator[b]) {
          dominator[b] = best;
          changed = true;
        }
      }
    }
    for (std::uint32_t b = 0; b < end_; ++b)
      if (dominator[b] != end_) g_.blocks[b].meets = dominator[b];
  }

 private:
  // Numbers blocks from the end backwards, in reverse postorder.
  void number() {
    std::vector<std::vector<std::uint32_t>> before(end_ + 1);
    for (std::uint32_t b = 0; b < end_; ++b)
      for (const std::uint32_t n : next_[b]) before[n].push_back(b);
    at_.assign(end_ + 1, kNone);
    std::vector<std::uint8_t> seen(end_ + 1, 0);
    std::vector<std::pair<std::uint32_t, std::size_t>> stack{{end_, 0}};
    seen[end_] = 1;
    while (!stack.empty()) {
      auto& [b, k] = stack.back();
      if (k < before[b].size()) {
        const std::uint32_t n = before[b][k++];
        if (!seen[n]) {
          seen[n] = 1;
          stack.emplace_back(n, 0);
        }
      } else {
        order_.push_back(b);
        stack.pop_back();
      }
    }
    std::reverse(order_.begin(), order_.end());
    for (std::uint32_t k = 0; k < order_.size(); ++k) at_[order_[k]] = k;
  }
  std::uint32_t common(std::uint32_t a, std::uint32_t b, const std::vector<std::uint32_t>& dominator) const {
    while (a != b) {
      while (at_[a] > at_[b]) a = dominator[a];
      while (at_[b] > at_[a]) b = dominator[b];
    }
    return a;
  }
  Graph& g_;
  std::uint32_t end_;
  std::vector<std::vector<std::uint32_t>> next_;
  std::vector<std::uint32_t> order_, at_;
};

}  // namespace

Graph graph_of(const Module& module, const Function& f) {
  const Reader r{module, f};
  const std::vector<std::uint8_t> begins = beginnings(r);
  Graph g;
  g.block_at.assign(begins.size(), kNone);
  for (std::uint32_t i = 0; i < begins.size(); ++i) {
    if (!begins[i]) continue;
    if (!g.blocks.empty()) g.blocks.back().end = i;
    g.block_at[i] = static_cast<std::uint32_t>(g.blocks.size());
    g.blocks.push_back({i, i, {}, kNone});
  }
  connect(g, r);
  Meetings(g, r).find();
  for (Block& b : g.blocks)
    if (b.meets != kNone && only_ends(g.blocks[b.meets], r)) b.meets = kNone;  // there is nothing to do together
  g.is_meeting.assign(g.blocks.size(), 0);
  for (const Block& b : g.blocks)
    if (b.next.size() > 1 && b.meets != kNone) g.is_meeting[b.meets] = 1;
  return g;
}

}  // namespace simt::ptx
