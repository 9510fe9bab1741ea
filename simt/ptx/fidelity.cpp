// SPDX-License-Identifier: Apache-2.0
#include "fidelity.hpp"

#include <string_view>
#include <vector>

namespace simt::ptx {

namespace {

// Whether an opcode has this modifier.
bool has(std::string_view opcode, std::string_view modifier) {
  for (std::size_t at = opcode.find(modifier); at != opcode.npos; at = opcode.find(modifier, at + 1)) {
    const std::size_t end = at + modifier.size();
    if (at > 0 && opcode[at - 1] == '.' && (end == opcode.size() || opcode[end] == '.')) return true;
  }
  return false;
}

std::string_view base_of(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }

bool is_modelled(std::string_view opcode) {
  const std::string_view base = base_of(opcode);
  for (const std::string_view known : {"rcp", "rsqrt", "sqrt", "ex2", "lg2"})  // special.hpp
    if (base == known) return false;
  return has(opcode, "approx") && base != "div";  // a product with rcp
}

bool is_contractable(std::string_view opcode) {
  bool real = false;
  for (const std::string_view type : {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2", "f32x2"}) real = real || has(opcode, type);
  for (const std::string_view mode : {"rn", "rz", "rm", "rp", "sat"}) real = real && !has(opcode, mode);
  return real;
}

// The first sum without a rounding modifier that takes a product without one, also by way of moves; null: there is none.
const Instruction* contracted(const Module& module, const Function& f) {
  std::vector<std::uint8_t> product(f.registers.size(), 0);
  for (int round = 0; round < 2; ++round)  // twice, for loops
    for (const Instruction& i : f.code) {
      const std::string_view name = module.names[i.opcode], base = base_of(name);
      const bool sum = (base == "add" || base == "sub") && is_contractable(name);
      const bool made = base == "mul" && is_contractable(name), moved = base == "mov" || base == "neg";
      bool takes = made;
      for (std::uint32_t k = 1; k < i.count; ++k) {
        const Operand& o = f.operands[i.first + k];
        if (o.kind != Operand::Kind::reg || product[o.id] == 0) continue;
        if (sum) return &i;
        takes = takes || moved;
      }
      if (takes && i.count > 0 && f.operands[i.first].kind == Operand::Kind::reg) product[f.operands[i.first].id] = 1;
    }
  return nullptr;
}

}  // namespace

Narrowed narrowed_in(const Module& module, const Function& f) {
  // Note: for a product of bf16 nvcc emits a fused one with the constant -0, which is no sum.
  std::vector<std::uint8_t> varies(f.registers.size(), 0);
  for (const Instruction& i : f.code) {
    const bool constant = i.count == 2 && base_of(module.names[i.opcode]) == "mov" &&
                          f.operands[i.first + 1].kind >= Operand::Kind::integer &&
                          f.operands[i.first + 1].kind <= Operand::Kind::single;
    if (i.count > 0 && f.operands[i.first].kind == Operand::Kind::reg && !constant) varies[f.operands[i.first].id] = 1;
  }
  Narrowed n;
  for (const Instruction& i : f.code) {
    const std::string_view name = module.names[i.opcode], base = base_of(name);
    bool narrow = false;
    for (const std::string_view type : {"f16", "f16x2", "bf16", "bf16x2"}) narrow = narrow || has(name, type);
    const bool fused = (base == "fma" || base == "mad") && i.count == 4;
    const Operand* const c = fused ? &f.operands[i.first + 3] : nullptr;
    const bool sum = base == "add" || base == "sub" || (fused && c->kind == Operand::Kind::reg && varies[c->id] != 0);
    if (narrow && sum && n.sum_line == 0) {
      n.sum = name;
      n.sum_line = i.line;
    }
    if ((base == "mma" || base == "wgmma") && has(name, "tf32") && n.product_line == 0) {
      n.product = name;
      n.product_line = i.line;
    }
  }
  return n;
}

Unordered unordered_in(const Module& module, const Function& f) {
  for (const Instruction& i : f.code) {
    const std::string_view name = module.names[i.opcode], base = base_of(name);
    const bool atomic = base == "atom" || base == "red" || name.starts_with("cp.reduce");
    if (atomic && has(name, "add") && (has(name, "f32") || has(name, "f64"))) return {std::string(name), i.line};
  }
  return {};
}

std::string in_words(const std::string& opcode, int line, const Module& module) {
  return "`" + opcode + "` (" + module.file + ":" + std::to_string(line) + ")";
}
std::string in_words(const Rests& rests, const Module& module) {
  constexpr const char* kWords[] = {"exact", "contractable", "modelled"};
  const std::string word = kWords[static_cast<int>(rests.on)];
  return rests.line == 0 ? word : word + ": " + in_words(rests.opcode, rests.line, module);
}
std::string in_words(const Unordered& unordered, const Module& module) {
  if (unordered.line == 0) return "";
  return "; " + in_words(unordered.opcode, unordered.line, module) + " adds floats in no fixed order";
}

Rests rests_of(const Module& module, const Function& f) {
  for (const Instruction& i : f.code)
    if (const std::string_view name = module.names[i.opcode]; is_modelled(name))
      return {Fidelity::modelled, std::string(name), i.line};
  if (const Instruction* i = contracted(module, f)) return {Fidelity::contractable, module.names[i->opcode], i->line};
  return {};
}

}  // namespace simt::ptx
