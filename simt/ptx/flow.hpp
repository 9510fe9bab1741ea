// SPDX-License-Identifier: Apache-2.0
// The control flow of a function: basic blocks, where the two ways of a branch meet again, and the places of registers.
#pragma once

#include <cstdint>
#include <vector>

#include "program.hpp"

namespace simt::ptx {

struct Block {
  std::uint32_t first = 0, end = 0;  // instructions
  std::vector<std::uint32_t> next;   // blocks
  std::uint32_t meets = kNone;       // its immediate post-dominator; kNone: the end
};

struct Graph {
  std::vector<Block> blocks;             // in the order of the text
  std::vector<std::uint32_t> block_at;   // [instruction] the block that it begins, or kNone
  std::vector<std::uint8_t> is_meeting;  // [block] some branch's ways meet at its start
};

Graph graph_of(const Module& module, const Function& f);

// An operation's use of a register.
struct Reference {
  std::uint32_t op, reg;
  std::uint32_t at;    // of a further operand: its index in Program::lists
  std::uint8_t field;  // 0 d, 1 a, 2 b, 3 c, 4 guard, 5 in Program::lists
  bool write;
};

// Gives each register a place in a warp's file, such that registers whose values live at the same time have their own.
// `blocks`: first operation of each block, and one past the last.
void place_registers(Program& program, const Graph& graph, const std::vector<std::uint32_t>& blocks,
                     const std::vector<Reference>& references);

}  // namespace simt::ptx
