// SPDX-License-Identifier: Apache-2.0
// A PTX module as parsed: variables, functions, and instructions whose names are resolved.  decode.hpp gives them a meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace simt::ptx {

// What the door does not take.  The text is one sentence that begins with "FILE:LINE: ".
class Refused : public std::runtime_error {
 public:
  Refused(const std::string& file, int line, const std::string& why)
      : std::runtime_error(file + ":" + std::to_string(line) + ": " + why) {}
};

enum class Space : std::uint8_t { generic, param, global, constant, shared, local };

struct Variable {
  std::string name;
  Space space = Space::global;
  std::uint32_t align = 1;
  std::uint64_t bytes = 0;
  bool external = false;                // `.extern .shared x[]`: its bytes are given at the launch
  std::vector<std::byte> values{};      // of an initialiser; empty: zeros
  mutable std::byte* memory = nullptr;  // of a global or constant: its place in the machine's memory
};

struct Operand {
  enum class Kind : std::uint8_t {
    nothing,   // `_`
    reg,       // id: the function's register
    special,   // id: name of a special register, such as %tid.x
    integer,   // value
    real,      // value: the bits of a double
    single,    // value: the bits of a float, written 0f...
    variable,  // id: of the function, or with `outer` of the module; value: offset in bytes
    address,   // [base + value]: `base` says what id means; [base, {coordinates}]: count operands from `more` on
    vector,    // count operands from id on in Function::operands
    pair,      // p|q: two operands from id on
    label,     // id: index of an instruction
    symbol     // id: a name that nothing declares here, such as a called function
  };
  Kind kind = Kind::nothing, base = Kind::nothing;
  bool negated = false;  // !p
  bool outer = false;
  std::uint32_t id = 0, count = 0, more = 0;
  std::int64_t value = 0;
};

struct Instruction {
  std::uint32_t opcode = 0;            // name, with its modifiers
  std::uint32_t first = 0, count = 0;  // in Function::operands
  std::int32_t guard = -1;             // register of the predicate
  bool guard_negated = false;
  int line = 0;                                    // of the PTX text
  std::uint32_t source_file = 0, source_line = 0;  // by .loc; 0: unknown
};

struct Function {
  std::string name;
  bool entry = false, has_body = false;
  int line = 0;
  std::vector<Variable> parameters, results, variables;
  std::vector<std::uint8_t> registers;  // bits; 1: a predicate
  std::vector<Operand> operands;
  std::vector<Instruction> code;
  unsigned threads[3] = {0, 0, 0};  // .reqntid
};

struct Module {
  std::string file;  // its name in messages
  int version = 0;   // 90 for 9.0
  std::string target;
  std::deque<std::string> names;  // of opcodes, special registers and symbols
  std::vector<Variable> variables;
  std::vector<std::unique_ptr<Function>> functions;
  std::unordered_map<std::uint32_t, std::string> files;  // by number of .file

  const Function* find(std::string_view name) const;
};

// Throws Refused for a text that is not PTX, or whose size exceeds a bound (parser.hpp).
Module parse(std::string_view text, std::string file);

}  // namespace simt::ptx
