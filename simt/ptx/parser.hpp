// SPDX-License-Identifier: Apache-2.0
// The parser of PTX modules; module.hpp is its interface.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokens.hpp"

namespace simt::ptx {

// Bounds of what others wrote.
inline constexpr std::size_t kMostRegisters = std::size_t{1} << 21, kMostInstructions = std::size_t{1} << 22,
                             kMostNames = std::size_t{1} << 20, kMostVariables = std::size_t{1} << 16;
inline constexpr std::uint64_t kMostVariableBytes = std::uint64_t{1} << 28;
inline constexpr int kMostNesting = 64;

// Bits of a type such as `.f32`; 1 for `.pred`; 0: no type.
unsigned bits_of_type(std::string_view type);

class Parser {
 public:
  Parser(std::string_view text, std::string file) : in_(text, file) { module_.file = std::move(file); }
  Module run();

 private:
  struct Named {  // what a name means in a scope
    bool variable = false;
    std::uint32_t id = 0;
  };
  struct Pending {  // a name used before it is declared: a label, or a function
    std::uint32_t operand = 0;
    std::string_view name;
    int line = 0;
  };
  struct Scope {
    std::unordered_map<std::string_view, Named> names;
    std::unordered_map<std::string_view, std::uint32_t> labels;
    std::vector<Pending> pending;
  };

  void top_level();
  void header();
  void section();
  void file_line();
  void variables(Space space, bool external, std::vector<Variable>& all);
  Variable variable(Space space);
  void initialiser(Variable& v, unsigned element_bits);
  std::uint64_t dimensions(Variable& v);
  void function(bool entry);
  std::vector<Variable> parameters();
  void directives();
  void body();
  void statement();
  void directive(std::string_view word);
  void registers();
  void location();
  void instruction(std::string_view opcode, int line);
  void call_operands(Instruction& i);
  Operand operand();
  Operand group(std::string_view close);
  Operand address();
  Operand named(std::string_view name);
  Operand value_of(std::string_view text, bool minus);
  std::uint32_t keep(const std::vector<Operand>& parts);
  std::uint32_t name_id(std::string_view name);
  const Named* look_up(std::string_view name) const;
  void open_scope();
  void close_scope();

  Tokens in_;
  Module module_;
  Function* f_ = nullptr;
  std::vector<Scope> scopes_;
  std::unordered_map<std::string, std::uint32_t> name_ids_;
  std::unordered_map<std::string_view, std::uint32_t> outer_;  // variables of the module
  std::size_t instructions_ = 0;
  std::uint32_t source_file_ = 0, source_line_ = 0;
};

}  // namespace simt::ptx
