// SPDX-License-Identifier: Apache-2.0
#include "validate/backends/runtime/fidelity_text.hpp"

#include <fmt/format.h>

#include "simt/ptx/program.hpp"

namespace assay {

namespace {

std::string named(const simt::ptx::Program& p, const std::string& opcode, int line) {
  return fmt::format("`{}` ({}:{})", opcode, p.module->file, line);
}

std::string undeclared(Programs programs, const Numerics& declared) {
  for (const auto& p : programs) {
    const simt::ptx::Narrowed& n = p->narrowed;
    if (n.sum_line != 0 && declared.accumulate == f32)
      return fmt::format("; {} adds in 16 bits, and sums in f32 are declared", named(*p, n.sum, n.sum_line));
    if (n.product_line != 0 && declared.factors.precision == 0)
      return fmt::format("; {} multiplies TF32, and no such factors are declared", named(*p, n.product, n.product_line));
  }
  return "";
}

}  // namespace

std::string fidelity_text(Programs programs, const Numerics& declared) {
  constexpr const char* kWords[] = {"exact", "contractable", "modelled"};
  const simt::ptx::Program* lowest = nullptr;
  for (const auto& p : programs)
    if (!lowest || p->rests.on > lowest->rests.on) lowest = p.get();
  if (!lowest) return "";
  const std::string word = kWords[static_cast<int>(lowest->rests.on)];
  const simt::ptx::Rests& rests = lowest->rests;
  return (rests.line == 0 ? word : fmt::format("{}: {}", word, named(*lowest, rests.opcode, rests.line))) +
         undeclared(programs, declared);
}

}  // namespace assay
