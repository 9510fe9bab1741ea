// SPDX-License-Identifier: Apache-2.0
// Calls: the body of the called function takes the place of the call.  Its registers and variables are added to those of the
// caller, its parameters and results are the caller's variables, and a return goes behind the call.
#include "inline.hpp"

#include <string_view>

#include "parser.hpp"

namespace simt::ptx {

namespace {

bool is_call(const Module& m, const Instruction& i) {
  const std::string_view name = m.names[i.opcode];
  return name == "call" || name == "call.uni";
}
bool is_return(const Module& m, const Instruction& i) {
  const std::string_view name = m.names[i.opcode];
  return name == "ret" || name == "ret.uni";
}

class Inliner {
 public:
  Inliner(const Module& m, Function& into) : m_(m), into_(into) {}

  // Adds the instructions of a function.  `variable`: by its variables, those of the result.
  void add(const Function& f, const std::vector<std::uint32_t>& variable, std::uint32_t registers, int depth) {
    if (depth > 16) throw Refused(m_.file, f.line, "calls of '" + f.name + "' nest too deeply");
    std::vector<std::uint32_t> at(f.code.size() + 1);  // where each instruction has gone
    std::vector<std::uint32_t> labels;                 // operands of the result that name an instruction of f
    std::vector<std::uint32_t> returns;                // operands that go behind the last one
    for (std::size_t k = 0; k < f.code.size(); ++k) {
      at[k] = static_cast<std::uint32_t>(into_.code.size());
      const Instruction& i = f.code[k];
      if (into_.code.size() > kMostInstructions) throw Refused(m_.file, i.line, "calls make too many instructions");
      if (is_call(m_, i)) {
        call(f, i, variable, depth);
        continue;
      }
      Instruction moved = i;
      if (moved.guard >= 0) moved.guard += static_cast<std::int32_t>(registers);
      moved.first = static_cast<std::uint32_t>(into_.operands.size());
      if (depth > 0 && is_return(m_, i)) {
        moved.opcode = branch();
        moved.count = 1;
        returns.push_back(moved.first);
        into_.operands.push_back({.kind = Operand::Kind::label});
      } else {
        copy(f, i.first, i.count, variable, registers, labels);
      }
      into_.code.push_back(moved);
    }
    at[f.code.size()] = static_cast<std::uint32_t>(into_.code.size());
    for (const std::uint32_t o : labels) into_.operands[o].id = at[into_.operands[o].id];
    for (const std::uint32_t o : returns) into_.operands[o].id = at[f.code.size()];
  }

 private:
  // Copies operands side by side, and the parts of vectors behind them.
  void copy(const Function& f, std::uint32_t first, std::uint32_t count, const std::vector<std::uint32_t>& variable,
            std::uint32_t registers, std::vector<std::uint32_t>& labels) {
    const auto to = static_cast<std::uint32_t>(into_.operands.size());
    into_.operands.resize(to + count);
    for (std::uint32_t k = 0; k < count; ++k) {
      Operand o = f.operands[first + k];
      const Operand::Kind what = o.kind == Operand::Kind::address ? o.base : o.kind;
      if (what == Operand::Kind::reg) o.id += registers;
      else if (what == Operand::Kind::variable && !o.outer) o.id = variable[o.id];
      else if (what == Operand::Kind::label) labels.push_back(to + k);
      else if (what == Operand::Kind::vector || what == Operand::Kind::pair) {
        const std::uint32_t parts = o.id;
        o.id = static_cast<std::uint32_t>(into_.operands.size());
        copy(f, parts, o.count, variable, registers, labels);
      }
      if (o.kind == Operand::Kind::address && o.count != 0) {
        const std::uint32_t coordinates = o.more;
        o.more = static_cast<std::uint32_t>(into_.operands.size());
        copy(f, coordinates, o.count, variable, registers, labels);
      }
      into_.operands[to + k] = o;
    }
  }

  // call (results), function, (parameters);
  void call(const Function& f, const Instruction& i, const std::vector<std::uint32_t>& variable, int depth) {
    const auto refuse = [&](const std::string& why) { throw Refused(m_.file, i.line, "`" + m_.names[i.opcode] + "` " + why); };
    const Operand* const all = f.operands.data() + i.first;
    std::uint32_t k = 0;
    while (k < i.count && all[k].kind != Operand::Kind::symbol) ++k;
    const Function* const called = k < i.count && k < 2 ? m_.find(m_.names[all[k].id]) : nullptr;
    if (called == nullptr || !called->has_body) return refuse("calls no function with a body in this module");
    if (i.guard >= 0) return refuse("under a predicate is not run");
    std::vector<std::uint32_t> of_callee;
    const auto bind = [&](const Operand* list, const std::vector<Variable>& formal) {
      if ((list == nullptr ? 0 : list->count) != formal.size())
        refuse("passes another number of values than '" + called->name + "' has");
      for (std::uint32_t v = 0; v < formal.size(); ++v) {
        const Operand& o = f.operands[list->id + v];
        if (o.kind != Operand::Kind::variable || o.outer) refuse("passes what is no variable");
        of_callee.push_back(variable[o.id]);
      }
    };
    bind(k + 1 < i.count ? all + k + 1 : nullptr, called->parameters);
    bind(k == 1 ? all : nullptr, called->results);
    for (std::size_t v = of_callee.size(); v < called->variables.size(); ++v) {
      of_callee.push_back(static_cast<std::uint32_t>(into_.variables.size()));
      into_.variables.push_back(called->variables[v]);
    }
    const auto own = static_cast<std::uint32_t>(into_.registers.size());
    if (own + called->registers.size() > kMostRegisters) refuse("makes too many registers");
    into_.registers.insert(into_.registers.end(), called->registers.begin(), called->registers.end());
    add(*called, of_callee, own, depth + 1);
  }

  std::uint32_t branch() const {
    for (std::uint32_t k = 0; k < m_.names.size(); ++k)
      if (m_.names[k] == "bra") return k;
    throw Refused(m_.file, into_.line, "a function returns, and no branch is named in the module");
  }

  const Module& m_;
  Function& into_;
};

}  // namespace

Function without_calls(const Module& module, const Function& f) {
  bool calls = false;
  for (const Instruction& i : f.code) calls = calls || is_call(module, i);
  if (!calls) return f;
  Function whole = f;
  whole.code.clear();
  whole.operands.clear();
  std::vector<std::uint32_t> same(f.variables.size());
  for (std::uint32_t k = 0; k < same.size(); ++k) same[k] = k;
  Inliner(module, whole).add(f, same, 0, 0);
  return whole;
}

}  // namespace simt::ptx
