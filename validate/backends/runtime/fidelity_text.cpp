// SPDX-License-Identifier: Apache-2.0
#include "validate/backends/runtime/fidelity_text.hpp"

#include <fmt/format.h>

#include "simt/ptx/program.hpp"

namespace assay {

namespace {

std::string undeclared(Programs programs, const Numerics& declared) {
  for (const auto& p : programs) {
    const simt::ptx::Narrowed& n = p->narrowed;
    if (n.sum_line != 0 && declared.accumulate == f32)
      return fmt::format("; {} adds in 16 bits, and sums in f32 are declared", in_words(n.sum, n.sum_line, *p->module));
    if (n.product_line != 0 && declared.factors.precision == 0)
      return fmt::format("; {} multiplies TF32, and no such factors are declared",
                         in_words(n.product, n.product_line, *p->module));
  }
  return "";
}

}  // namespace

std::string fidelity_text(Programs programs, const Numerics& declared) {
  const simt::ptx::Program* lowest = nullptr;
  for (const auto& p : programs)
    if (!lowest || p->rests.on > lowest->rests.on) lowest = p.get();
  if (!lowest) return "";
  std::string unordered;
  for (const auto& p : programs)
    if (unordered.empty()) unordered = in_words(p->unordered, *p->module);
  return in_words(lowest->rests, *lowest->module) + unordered + undeclared(programs, declared);
}

}  // namespace assay
