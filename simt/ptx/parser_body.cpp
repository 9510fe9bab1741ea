// SPDX-License-Identifier: Apache-2.0
// The parser of function bodies: scopes, registers, labels, instructions and their operands.
#include <algorithm>

#include "parser.hpp"

namespace simt::ptx {

std::uint32_t Parser::name_id(std::string_view name) {
  const auto [at, fresh] = name_ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(module_.names.size()));
  if (fresh) {
    if (module_.names.size() >= kMostNames) in_.refuse("the module has too many names");
    module_.names.emplace_back(name);
  }
  return at->second;
}

void Parser::open_scope() {
  if (scopes_.size() >= kMostNesting) in_.refuse("scopes nest too deeply");
  scopes_.emplace_back();
}

// Resolves the names that wait for a label of this scope; the others may mean one of the scope around it, or a function.
void Parser::close_scope() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (const Pending& p : scope.pending) {
    Operand& o = f_->operands[p.operand];
    if (const auto label = scope.labels.find(p.name); label != scope.labels.end()) {
      o.kind = Operand::Kind::label;
      o.id = label->second;
    } else if (!scopes_.empty()) scopes_.back().pending.push_back(p);
    else {
      o.kind = Operand::Kind::symbol;
      o.id = name_id(p.name);
    }
  }
}

const Parser::Named* Parser::look_up(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto at = scope->names.find(name); at != scope->names.end()) return &at->second;
  return nullptr;
}

void Parser::body() {
  in_.expect("{");
  source_file_ = source_line_ = 0;
  scopes_.clear();
  open_scope();
  // The function's parameters come first among its variables, and its results next.
  for (const auto* list : {&f_->parameters, &f_->results})
    for (const Variable& v : *list) {
      scopes_.back().names[module_.names[name_id(v.name)]] = {true, static_cast<std::uint32_t>(f_->variables.size())};
      f_->variables.push_back(v);
    }
  while (!scopes_.empty()) {
    if (in_.peek().kind == Token::Kind::end) in_.refuse("the function '" + f_->name + "' has no end");
    statement();
  }
}

void Parser::statement() {
  if (in_.accept("{")) return open_scope();
  if (in_.accept("}")) return close_scope();
  if (in_.accept(";")) return;
  const Token t = in_.peek();
  if (t.is("@")) return instruction({}, t.line);
  if (t.kind != Token::Kind::word) in_.refuse("a statement was expected, not " + in_.found());
  if (t.text[0] == '.') return directive(in_.take().text);
  const std::string_view word = in_.take().text;
  if (!in_.accept(":")) return instruction(word, t.line);
  if (!scopes_.back().labels.emplace(word, static_cast<std::uint32_t>(f_->code.size())).second)
    in_.refuse("the label '" + std::string(word) + "' stands twice in its scope");
}

void Parser::directive(std::string_view word) {
  if (word == ".reg") return registers();
  if (word == ".loc") return location();
  if (word == ".pragma") {
    in_.take();
    return in_.expect(";");
  }
  const Space space = word == ".shared"  ? Space::shared
                      : word == ".local" ? Space::local
                      : word == ".param" ? Space::param
                      : word == ".const" ? Space::constant
                                         : Space::global;
  if (space == Space::global && word != ".global") in_.refuse("'" + std::string(word) + "' is not taken in a function");
  const std::size_t before = f_->variables.size();
  variables(space, false, f_->variables);
  for (std::size_t i = before; i < f_->variables.size(); ++i)
    scopes_.back().names[module_.names[name_id(f_->variables[i].name)]] = {true, static_cast<std::uint32_t>(i)};
}

// `.reg .b32 %r<24>, %temp;`
void Parser::registers() {
  const std::string_view type = in_.word("a type");
  const unsigned bits = bits_of_type(type);
  if (bits == 0) in_.refuse("registers of type '" + std::string(type) + "' are not taken");
  const auto add = [&](std::string_view name) {
    if (f_->registers.size() >= kMostRegisters) in_.refuse("the function has too many registers");
    scopes_.back().names[name] = {false, static_cast<std::uint32_t>(f_->registers.size())};
    f_->registers.push_back(static_cast<std::uint8_t>(bits));
  };
  do {
    const std::string_view name = in_.word("the name of a register");
    if (in_.accept("<")) {
      const std::int64_t count = in_.integer("a number of registers");
      if (count < 0 || static_cast<std::size_t>(count) > kMostRegisters) in_.refuse("the function has too many registers");
      for (std::int64_t i = 0; i < count; ++i) add(module_.names[name_id(std::string(name) + std::to_string(i))]);
      in_.expect(">");
    } else {
      add(name);
    }
  } while (in_.accept(","));
  in_.expect(";");
}

// `.loc 1 25 3, function_name $L__info_string0, inlined_at 1 20 1`: the innermost line is kept.
void Parser::location() {
  source_file_ = static_cast<std::uint32_t>(in_.integer("the number of a file"));
  source_line_ = static_cast<std::uint32_t>(in_.integer("a line"));
  in_.integer("a column");
  while (in_.accept(",")) {
    if (in_.accept("function_name")) {
      in_.word("the name of a function");
      if (in_.accept("+")) in_.integer("an offset");
    } else {
      in_.expect("inlined_at");
      for (int i = 0; i < 3; ++i) in_.integer("a number");
    }
  }
}

// `opcode`: as taken already; empty: a predicate comes first.
void Parser::instruction(std::string_view opcode, int line) {
  if (++instructions_ > kMostInstructions) in_.refuse("the module has too many instructions");
  Instruction i;
  i.line = line;
  i.source_file = source_file_;
  i.source_line = source_line_;
  if (in_.accept("@")) {
    i.guard_negated = in_.accept("!");
    const std::string_view name = in_.word("a predicate");
    const Named* guard = look_up(name);
    if (guard == nullptr || guard->variable || f_->registers[guard->id] != 1)
      in_.refuse("'" + std::string(name) + "' is no predicate");
    i.guard = static_cast<std::int32_t>(guard->id);
    i.line = in_.peek().line;
  }
  if (opcode.empty()) opcode = in_.word("an instruction");
  i.opcode = name_id(opcode);
  std::vector<Operand> all;
  while (!in_.peek().is(";") && !in_.peek().is("}")) {
    if (all.size() >= 64) in_.refuse("an instruction has too many operands");
    all.push_back(operand());
    if (!in_.accept(",")) break;
  }
  in_.expect(";");
  i.first = keep(all);
  i.count = static_cast<std::uint32_t>(all.size());
  f_->code.push_back(i);
}

// Keeps operands side by side.  What waits for a label waits by its index here.
std::uint32_t Parser::keep(const std::vector<Operand>& parts) {
  const auto first = static_cast<std::uint32_t>(f_->operands.size());
  for (const Operand& o : parts) {
    f_->operands.push_back(o);
    if (o.kind == Operand::Kind::symbol)
      scopes_.back().pending.push_back(
          {static_cast<std::uint32_t>(f_->operands.size() - 1), module_.names[o.id], in_.peek().line});
  }
  return first;
}

Operand Parser::value_of(std::string_view text, bool minus) {
  NumberKind kind{};
  std::uint64_t bits = 0;
  if (!number(text, kind, bits)) in_.refuse("'" + std::string(text.substr(0, 60)) + "' is no number");
  Operand o;
  o.kind = kind == NumberKind::integer  ? Operand::Kind::integer
           : kind == NumberKind::single ? Operand::Kind::single
                                        : Operand::Kind::real;
  if (minus) bits = kind == NumberKind::integer ? 0 - bits : bits ^ std::uint64_t{1} << (kind == NumberKind::single ? 31 : 63);
  o.value = static_cast<std::int64_t>(bits);
  return o;
}

Operand Parser::named(std::string_view name) {
  Operand o;
  if (name == "_") return o;
  if (const Named* known = look_up(name)) {
    o.kind = known->variable ? Operand::Kind::variable : Operand::Kind::reg;
    o.id = known->id;
    return o;
  }
  if (const auto at = outer_.find(name); at != outer_.end()) {
    o.kind = Operand::Kind::variable;
    o.outer = true;
    o.id = at->second;
    return o;
  }
  o.kind = name[0] == '%' || name == "WARP_SZ" ? Operand::Kind::special : Operand::Kind::symbol;
  o.id = name_id(name);
  return o;
}

Operand Parser::address() {
  Operand o;
  o.kind = Operand::Kind::address;
  if (in_.peek().kind == Token::Kind::word) {
    const Operand base = named(in_.take().text);
    if (base.kind != Operand::Kind::reg && base.kind != Operand::Kind::variable)
      in_.refuse("an address begins with a register or a variable");
    o.base = base.kind;
    o.id = base.id;
    o.outer = base.outer;
    if (in_.accept("+")) o.value = in_.integer("an offset");
    else if (in_.peek().is("-")) o.value = in_.integer("an offset");
  } else {
    o.base = Operand::Kind::nothing;
    o.value = in_.integer("an address");
  }
  if (in_.accept(",")) {
    in_.expect("{");
    const Operand coordinates = group("}");
    o.more = coordinates.id;
    o.count = coordinates.count;
  }
  in_.expect("]");
  return o;
}

Operand Parser::group(std::string_view close) {
  std::vector<Operand> parts;
  while (!in_.peek().is(close)) {
    if (parts.size() >= 256) in_.refuse("a vector has too many parts");
    if (in_.peek().is("{") || in_.peek().is("(")) in_.refuse("a vector within a vector is not taken");
    parts.push_back(operand());
    if (!in_.accept(",")) break;
  }
  in_.expect(close);
  Operand o;
  o.kind = Operand::Kind::vector;
  o.id = keep(parts);
  o.count = static_cast<std::uint32_t>(parts.size());
  return o;
}

Operand Parser::operand() {
  if (in_.accept("{")) return group("}");
  if (in_.accept("(")) return group(")");
  if (in_.accept("[")) return address();
  if (in_.accept("!")) {
    Operand o = named(in_.word("a predicate"));
    o.negated = true;
    return o;
  }
  const bool minus = in_.accept("-");
  if (in_.peek().kind == Token::Kind::number) return value_of(in_.take().text, minus);
  if (minus) in_.refuse("a number was expected, not " + in_.found());
  Operand o = named(in_.word("an operand"));
  if (in_.accept("|")) {
    const std::vector<Operand> both{o, named(in_.word("a predicate"))};
    o = {};
    o.kind = Operand::Kind::pair;
    o.id = keep(both);
    o.count = 2;
  } else if (o.kind == Operand::Kind::variable && in_.accept("+")) {
    o.value = in_.integer("an offset");
  }
  return o;
}

}  // namespace simt::ptx
