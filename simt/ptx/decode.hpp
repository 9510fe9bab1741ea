// SPDX-License-Identifier: Apache-2.0
// The decoder: for each instruction of an entry, a checked choice of an operation.  Each family of instructions has a file of
// its own, which adds its opcodes to the table.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flow.hpp"
#include "warp.hpp"

namespace simt::ptx {

enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  u8,
  s8,
  b16,
  u16,
  s16,
  b32,
  u32,
  s32,
  b64,
  u64,
  s64,
  f16,
  bf16,
  f16x2,
  bf16x2,
  f32,
  f64
};
Type type_named(std::string_view name);
unsigned bits_of(Type t);  // of a register that holds it
inline bool is_signed(Type t) { return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64; }
inline bool is_float(Type t) { return t >= Type::f16; }
inline bool is_integer(Type t) { return !is_float(t) && t != Type::none && t != Type::pred; }

class Decoder {
 public:
  Decoder(const Module& module, const Function& function, Program& made, const Graph& blocks)
      : m(module), f(function), program(made), graph(blocks) {}
  void run();

  // --- The instruction at hand, for the families.
  std::string_view base;                // its opcode without modifiers
  std::vector<std::string_view> words;  // modifiers that nobody has taken
  Op op;
  const Instruction* i = nullptr;
  const Module& m;
  const Function& f;
  Program& program;
  const Graph& graph;
  std::uint32_t block = 0;  // the block of the instruction

  bool take(std::string_view word);
  // Takes the one of these words that is there, and returns its index; -1: none is.
  int take_one(std::initializer_list<std::string_view> choices);
  Type take_type();   // the first word that is a type; refuses if there is none
  Type maybe_type();  // none if there is none
  void operands(std::size_t least, std::size_t most = 0);
  std::size_t count() const { return i->count; }
  const Operand& operand(std::size_t k) const { return f.operands[i->first + k]; }
  const Operand& part(const Operand& vector, std::size_t k) const { return f.operands[vector.id + k]; }
  std::string text(const Operand& o) const;
  unsigned bits_of_register(const Operand& o) const { return f.registers[o.id]; }

  // Sets a field of the operation to the place of an operand.  A source may be a register, a special register, a number or the
  // address of a variable; registers have the type's size.  `wider`: they may be larger.
  void in(Place Op::*field, const Operand& o, Type t, bool wider = false);
  void out(Place Op::*field, const Operand& o, Type t, bool wider = false);
  void in(Place Op::*field, std::size_t k, Type t, bool wider = false) { in(field, operand(k), t, wider); }
  void out(Place Op::*field, std::size_t k, Type t, bool wider = false) { out(field, operand(k), t, wider); }
  // The same for a further operand, in Program::lists.
  void in_list(const Operand& o, Type t, bool wider = false);
  void out_list(const Operand& o, Type t, bool wider = false);
  void no_list();  // a further operand that is not there
  std::int64_t integer(const Operand& o, const char* what) const;
  Place constant(std::uint64_t bits, unsigned width);
  std::uint64_t address_of(const Operand& o) const;  // of a variable, in its space
  const Variable& variable(const Operand& o) const { return o.outer ? m.variables[o.id] : f.variables[o.id]; }
  std::uint64_t offset_of(const Operand& o) const;  // of a shared, local or parameter variable
  void emit();
  void guard_again();  // gives a further operation of this instruction its guard
  [[noreturn]] void refuse(const std::string& why) const;

  std::vector<Reference> references;  // to registers, by operation

 private:
  void decode(const Instruction& next);
  void lay_out();
  Place source(const Operand& o, Type t, bool wider, std::uint32_t& reg);
  Place special(const Operand& o, Type t);
  Place special_of_block(char axis) const;
  Place low_half(std::uint32_t reg);
  void refer(std::uint32_t reg, bool write, std::uint8_t field, std::uint32_t at);
  void guard_accumulators();
  std::vector<std::uint8_t> carries_;               // [operation] it may move an accumulator of a running wgmma, or is a wgmma
  std::vector<std::uint64_t> outer_at_, inner_at_;  // offsets of variables, of the module and of the function
  unsigned low_halves_ = 0;                         // that the instruction has taken
  std::unordered_map<std::uint64_t, Place> small_, large_;  // constants by their bits
};

using Family = void (*)(Decoder&);
// The family of an opcode without modifiers; null: the machine does not run it.
Family family(std::string_view base);

// The families; each throws Refused, by Decoder::refuse(), for a form that the machine does not run.
void decode_integer(Decoder&);
void decode_bits(Decoder&);
void decode_carry(Decoder&);
void decode_float(Decoder&);
void decode_half(Decoder&);
void decode_double(Decoder&);
void decode_arithmetic(Decoder&);  // add, sub, mul, mad, fma, div, min, max, abs, neg, rem: by type
void decode_approximate(Decoder&);
void decode_compare(Decoder&);
void decode_select(Decoder&);
void decode_move(Decoder&);
void decode_convert(Decoder&);
void decode_address(Decoder&);
void decode_load(Decoder&);
void decode_store(Decoder&);
void decode_atomic(Decoder&);
void decode_copy(Decoder&);
void decode_bulk(Decoder&);
void decode_mbarrier(Decoder&);
bool decode_proxy_fence(Decoder&);
void decode_tensor_map(Decoder&);
void decode_tensor_map_fence(Decoder&);
void decode_warpgroup(Decoder&);
void decode_matrix(Decoder&);
void decode_shuffle(Decoder&);
void decode_vote(Decoder&);
void decode_barrier(Decoder&);
void decode_flow(Decoder&);
void decode_nothing(Decoder&);

}  // namespace simt::ptx
