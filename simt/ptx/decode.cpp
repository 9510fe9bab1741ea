// SPDX-License-Identifier: Apache-2.0
#include "decode.hpp"

#include <algorithm>
#include <bit>
#include <filesystem>

#include "inline.hpp"
#include "machine.hpp"
#include "place.hpp"

namespace simt::ptx {

namespace {

struct NamedType {
  std::string_view name;
  Type type;
  unsigned bits;
};
constexpr NamedType kTypes[] = {
    {"pred", Type::pred, 1},      {"b8", Type::b8, 8},    {"u8", Type::u8, 8},      {"s8", Type::s8, 8},
    {"b16", Type::b16, 16},       {"u16", Type::u16, 16}, {"s16", Type::s16, 16},   {"b32", Type::b32, 32},
    {"u32", Type::u32, 32},       {"s32", Type::s32, 32}, {"b64", Type::b64, 64},   {"u64", Type::u64, 64},
    {"s64", Type::s64, 64},       {"f16", Type::f16, 16}, {"bf16", Type::bf16, 16}, {"f16x2", Type::f16x2, 32},
    {"bf16x2", Type::bf16x2, 32}, {"f32", Type::f32, 32}, {"f64", Type::f64, 64}};

std::uint64_t round_up(std::uint64_t n, std::uint64_t to) { return (n + to - 1) / to * to; }

// Gives the module's variables memory, with their initial values.
void place_variables(const Module& m) {
  for (const Variable& v : m.variables) {
    if (v.memory != nullptr || (v.space != Space::global && v.space != Space::constant) || v.external) continue;
    v.memory = static_cast<std::byte*>(allocate(v.bytes, 0, v.name));
    std::fill_n(v.memory, v.bytes, std::byte{0});
    std::copy(v.values.begin(), v.values.end(), v.memory);
    mark_written(v.memory, v.bytes);
  }
}

}  // namespace

Type type_named(std::string_view name) {
  for (const NamedType& t : kTypes)
    if (t.name == name) return t.type;
  return Type::none;
}

unsigned bits_of(Type t) {
  for (const NamedType& known : kTypes)
    if (known.type == t) return known.bits;
  return 0;
}

void Decoder::refuse(const std::string& why) const {
  throw Refused(m.file, i != nullptr ? i->line : f.line, (i != nullptr ? "`" + m.names[i->opcode] + "` " : "") + why);
}

bool Decoder::take(std::string_view word) {
  const auto at = std::find(words.begin(), words.end(), word);
  if (at == words.end()) return false;
  words.erase(at);
  return true;
}

int Decoder::take_one(std::initializer_list<std::string_view> choices) {
  int k = 0;
  for (const std::string_view choice : choices) {
    if (take(choice)) return k;
    ++k;
  }
  return -1;
}

Type Decoder::maybe_type() {
  for (const std::string_view word : words)
    if (const Type t = type_named(word); t != Type::none) {
      take(word);
      return t;
    }
  return Type::none;
}

Type Decoder::take_type() {
  const Type t = maybe_type();
  if (t == Type::none) refuse("names no type that the machine runs");
  return t;
}

void Decoder::operands(std::size_t least, std::size_t most) {
  if (count() < least || count() > std::max(least, most)) refuse("has " + std::to_string(count()) + " operands");
}

std::string Decoder::text(const Operand& o) const {
  switch (o.kind) {
    case Operand::Kind::reg: return "a register";
    case Operand::Kind::special:
    case Operand::Kind::symbol: return "'" + m.names[o.id] + "'";
    case Operand::Kind::variable: return "'" + variable(o).name + "'";
    case Operand::Kind::address: return "an address";
    case Operand::Kind::vector: return "a vector";
    case Operand::Kind::label: return "a label";
    case Operand::Kind::nothing: return "'_'";
    default: return "a number";
  }
}

std::int64_t Decoder::integer(const Operand& o, const char* what) const {
  if (o.kind != Operand::Kind::integer) refuse(std::string("has ") + text(o) + " where " + what + " was expected");
  return o.value;
}

Place Decoder::constant(std::uint64_t bits, unsigned width) {
  const bool wide = width == 64;
  auto& known = wide ? large_ : small_;
  const auto [at, fresh] = known.try_emplace(wide ? bits : bits & 0xffffffffu, 0);
  if (fresh) {
    at->second = static_cast<Place>(program.constants.size() * 4) | 1;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      program.constants.push_back(static_cast<std::uint32_t>(bits));
      if (wide) program.constants.push_back(static_cast<std::uint32_t>(bits >> 32));
    }
  }
  return at->second;
}

std::uint64_t Decoder::offset_of(const Operand& o) const { return (o.outer ? outer_at_ : inner_at_)[o.id]; }

std::uint64_t Decoder::address_of(const Operand& o) const {
  const Variable& v = variable(o);
  if (v.space != Space::global && v.space != Space::constant) return offset_of(o) + static_cast<std::uint64_t>(o.value);
  if (v.memory == nullptr) refuse("uses '" + v.name + "', which another module defines");
  return std::bit_cast<std::uintptr_t>(v.memory) + static_cast<std::uint64_t>(o.value);
}

Place Decoder::source(const Operand& o, Type t, bool wider, std::uint32_t& reg) {
  const unsigned bits = bits_of(t);
  switch (o.kind) {
    case Operand::Kind::reg: {
      const unsigned has = bits_of_register(o);
      if ((t == Type::pred) != (has == 1) || (wider ? has < bits : has != bits))
        refuse("reads a register of " + std::to_string(has) + " bits as one of " + std::to_string(bits));
      reg = o.id;
      return 0;
    }
    case Operand::Kind::special: return special(o, t);
    case Operand::Kind::integer:
      if (t == Type::pred) return constant(o.value != 0 ? ~0ull : 0, 32);
      if (t == Type::f32 || t == Type::f64) refuse("has an integer where a float was expected");
      return constant(static_cast<std::uint64_t>(o.value), bits);
    case Operand::Kind::single:
      if (bits == 64)
        return constant(
            std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(o.value)))), 64);
      return constant(static_cast<std::uint64_t>(o.value), 32);
    case Operand::Kind::real:
      if (bits == 64) return constant(static_cast<std::uint64_t>(o.value), 64);
      return constant(std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.value))), 32);
    case Operand::Kind::variable: return constant(address_of(o), bits);
    default: refuse("has " + text(o) + " where a value was expected");
  }
}

void Decoder::refer(std::uint32_t reg, bool write, std::uint8_t field, std::uint32_t at) {
  references.push_back({static_cast<std::uint32_t>(program.ops.size()), reg, at, field, write});
}

namespace {
std::uint8_t number_of(Place Op::*field) {
  constexpr Place Op::*kFields[] = {&Op::d, &Op::a, &Op::b, &Op::c};
  return static_cast<std::uint8_t>(std::find(std::begin(kFields), std::end(kFields), field) - std::begin(kFields));
}
}  // namespace

// An instruction may read the low bits of a register of 64: an operation before it copies them to a place of their own.
Place Decoder::low_half(std::uint32_t reg) {
  const auto at = static_cast<std::uint32_t>(program.ops.size());
  for (std::size_t k = references.size(); k > 0 && references[k - 1].op == at; --k) ++references[k - 1].op;
  references.push_back({at, reg, 0, 1, false});
  if (low_halves_ >= 4) refuse("reads parts of too many registers");
  Op copy;
  copy.run = op1<[](std::uint64_t v) { return v; }, std::uint32_t, std::uint64_t>;
  copy.d = kLowHalves + low_halves_++ * kVectorBytes;
  copy.where = op.where;
  copy.line = op.line;
  program.ops.push_back(copy);
  return copy.d;
}

void Decoder::in(Place Op::*field, const Operand& o, Type t, bool wider) {
  if (o.negated) refuse("has a negated predicate where none is taken");
  std::uint32_t reg = kNone;
  op.*field = source(o, t, wider, reg);
  if (reg == kNone) return;
  if (f.registers[reg] == 64 && bits_of(t) < 64) op.*field = low_half(reg);
  else refer(reg, false, number_of(field), 0);
}

void Decoder::out(Place Op::*field, const Operand& o, Type t, bool wider) {
  if (o.kind != Operand::Kind::reg) refuse("writes to " + text(o));
  std::uint32_t reg = kNone;
  source(o, t, wider, reg);
  refer(reg, true, number_of(field), 0);
}

void Decoder::in_list(const Operand& o, Type t, bool wider) {
  std::uint32_t reg = kNone;
  program.lists.push_back(source(o, t, wider, reg));
  if (reg == kNone) return;
  if (f.registers[reg] == 64 && bits_of(t) < 64) program.lists.back() = low_half(reg);
  else refer(reg, false, 5, static_cast<std::uint32_t>(program.lists.size() - 1));
}

void Decoder::out_list(const Operand& o, Type t, bool wider) {
  if (o.kind == Operand::Kind::nothing) return no_list();
  if (o.kind != Operand::Kind::reg) refuse("writes to " + text(o));
  std::uint32_t reg = kNone;
  program.lists.push_back(source(o, t, wider, reg));
  refer(reg, true, 5, static_cast<std::uint32_t>(program.lists.size() - 1));
}

void Decoder::no_list() { program.lists.push_back(kNone); }

void Decoder::emit() {
  program.ops.push_back(op);
  op = Op{};
}

namespace {
detail::Meet meet_of(std::string_view base) {
  using detail::Meet;
  return base == "mma"          ? Meet::mma
         : base == "ldmatrix"   ? Meet::ldmatrix
         : base == "stmatrix"   ? Meet::stmatrix
         : base == "wgmma"      ? Meet::wgmma
         : base == "setmaxnreg" ? Meet::registers
         : base == "vote"       ? Meet::ballot
                                : Meet::shuffle;
}
}  // namespace

void Decoder::guard_again() {
  if (i->guard < 0) return;
  op.guard = 1;
  op.guard_negated = i->guard_negated;  // its place comes with those of all registers
  refer(static_cast<std::uint32_t>(i->guard), false, 4, 0);
}

void Decoder::decode(const Instruction& next) {
  i = &next;
  op = Op{};
  low_halves_ = 0;
  op.line = static_cast<std::uint32_t>(next.line);
  op.list = static_cast<std::uint32_t>(program.lists.size());
  const auto file = next.source_line != 0 ? m.files.find(next.source_file) : m.files.end();
  op.where = file == m.files.end() ? new_place(m.file, op.line, op.line) : new_place(file->second, next.source_line, op.line);
  guard_again();
  const std::string_view name = m.names[next.opcode];
  words.clear();
  for (std::size_t from = name.find('.'); from != name.npos;) {
    const std::size_t to = name.find('.', from + 1);
    words.push_back(name.substr(from + 1, to == name.npos ? to : to - from - 1));
    from = to;
  }
  base = name.substr(0, name.find('.'));
  const Family decode_it = family(base);
  if (decode_it == nullptr) refuse("is no instruction that the machine runs");
  const std::size_t before = program.ops.size();
  decode_it(*this);
  if (program.ops.size() > before) program.ops.back().meet = meet_of(base);
  const bool moves = base == "mov" && count() == 2 && operand(0).kind == Operand::Kind::reg &&
                     operand(1).kind == Operand::Kind::reg && bits_of_register(operand(0)) == 32;
  carries_.resize(program.ops.size(), moves || base == "wgmma");
  if (!words.empty()) refuse("has the modifier ." + std::string(words[0]) + ", which the machine does not run");
}

// Offsets of the variables in their spaces.
void Decoder::lay_out() {
  outer_at_.assign(m.variables.size(), 0);
  inner_at_.assign(f.variables.size(), 0);
  std::vector<std::uint8_t> used(m.variables.size(), 0);
  for (const Operand& o : f.operands)
    if (o.outer) used[o.id] = 1;
  std::uint64_t dynamic_align = 16;
  const auto place = [&](const Variable& v, std::uint64_t& at, bool formal) {
    std::uint64_t& end = formal ? program.parameter_bytes : v.space == Space::shared ? program.shared_bytes : program.local_bytes;
    at = round_up(end, v.align);
    end = at + v.bytes;
    if (formal) program.parameter_at.push_back(at);
  };
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    if (v.space != Space::shared || !used[k]) continue;
    if (v.external) dynamic_align = std::max<std::uint64_t>(dynamic_align, v.align);
    else place(v, outer_at_[k], false);
  }
  for (std::size_t k = 0; k < f.variables.size(); ++k) {
    const Variable& v = f.variables[k];
    if (v.space == Space::global || v.space == Space::constant) refuse("declares a global variable in a function");
    place(v, inner_at_[k], k < f.parameters.size());
  }
  if (program.parameter_bytes > 32764) refuse("takes more than 32,764 bytes of parameters");
  if (program.local_bytes > 512 * 1024) refuse("has more than 512 KiB of local memory a thread");
  program.dynamic_at = round_up(program.shared_bytes, dynamic_align);
  for (std::size_t k = 0; k < m.variables.size(); ++k)
    if (m.variables[k].space == Space::shared && m.variables[k].external) outer_at_[k] = program.dynamic_at;
}

void Decoder::run() {
  lay_out();
  program.constants.assign(std::size_t{kFirstConstant} * kLanes, 0);
  std::vector<std::uint32_t> blocks;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const Block& here = graph.blocks[b];
    block = static_cast<std::uint32_t>(b);
    blocks.push_back(static_cast<std::uint32_t>(program.ops.size()));
    if (graph.is_meeting[b]) {
      op.flow = Flow::join;
      emit();
      carries_.push_back(0);
    }
    for (std::uint32_t k = here.first; k < here.end; ++k) decode(f.code[k]);
    if (here.first == here.end) {  // the end of the text
      op.flow = Flow::exit;
      emit();
      carries_.push_back(0);
    }
  }
  blocks.push_back(static_cast<std::uint32_t>(program.ops.size()));
  for (Op& o : program.ops) {
    if (o.target != kNone) o.target = blocks[o.target];
    if (o.meets != kNone) o.meets = blocks[o.meets];
  }
  std::stable_sort(references.begin(), references.end(),
                   [](const Reference& a, const Reference& b) { return a.op != b.op ? a.op < b.op : a.write < b.write; });
  place_registers(program, graph, blocks, references);
  guard_accumulators();
  constexpr std::uint32_t kMostRegisterBytes = 8u << 20;
  if (program.register_bytes > kMostRegisterBytes) refuse("has more live registers than 8 MiB a warp hold");
}

std::shared_ptr<const Program> decode(std::shared_ptr<const Module> module, const Function& entry) {
  if (!entry.has_body) throw Refused(module->file, entry.line, "the entry '" + entry.name + "' has no body");
  place_variables(*module);
  auto program = std::make_shared<Program>();
  program->function = without_calls(*module, entry);
  program->rests = rests_of(*module, program->function);
  program->narrowed = narrowed_in(*module, program->function);
  program->unordered = unordered_in(*module, program->function);
  const Graph graph = graph_of(*module, program->function);
  Decoder(*module, program->function, *program, graph).run();
  program->module = std::move(module);
  return program;
}

}  // namespace simt::ptx
