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

}  // namespace simt::ptx
