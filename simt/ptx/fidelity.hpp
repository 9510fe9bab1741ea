// SPDX-License-Identifier: Apache-2.0
// How closely this machine does what a GPU does, by instruction (docs/ptx.md).
#pragma once

#include <cstdint>
#include <string>

#include "module.hpp"

namespace simt::ptx {

enum class Fidelity : std::uint8_t {
  exact,         // bit for bit
  contractable,  // a product without a rounding modifier goes into such a sum: ptxas may round once, this machine rounds twice
  modelled       // an approximation of which only a bound is known, computed here in another way
};

// The lowest fidelity among a function's instructions, and the first instruction that has it.
struct Rests {
  Fidelity on = Fidelity::exact;
  std::string opcode;
  int line = 0;
};
Rests rests_of(const Module& module, const Function& f);  // f: without calls

// Where a function computes in less than f32: its first sum in 16 bits, and its first product of TF32.  Line 0: nowhere.
struct Narrowed {
  std::string sum, product;
  int sum_line = 0, product_line = 0;
};
Narrowed narrowed_in(const Module& module, const Function& f);

// The first addition of floats by an atomic operation.  A GPU makes those of several threads in any order, so that results may
// differ from run to run.
struct Unordered {
  std::string opcode;
  int line = 0;  // 0: there is none
};
Unordered unordered_in(const Module& module, const Function& f);

// In words: the level, with the instruction that brings it down; and what adds in no fixed order, or nothing.
std::string in_words(const Rests& rests, const Module& module);
std::string in_words(const Unordered& unordered, const Module& module);
// An instruction and its place, in words.
std::string in_words(const std::string& opcode, int line, const Module& module);

}  // namespace simt::ptx
