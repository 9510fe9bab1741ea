// SPDX-License-Identifier: Apache-2.0
#include "validate/bench/device.hpp"

#include <fmt/format.h>

#include "validate/records/fields/reader.hpp"
#include "validate/records/fields/row_fields.hpp"
#include "validate/records/fields/writer.hpp"

namespace assay {

namespace {

double sum(const DramBytes& d) { return d.read + d.written; }

}  // namespace

std::string dram_copy_fault(const DramBytes& moved, double bytes) {
  constexpr double kShare = 0.03;
  if (std::abs(moved.read - bytes) <= kShare * bytes && std::abs(moved.written - bytes) <= kShare * bytes) return "";
  return fmt::format("of a copy of {:.1f} MB they counted {:.1f} MB read and {:.1f} MB written", 1e-6 * bytes, 1e-6 * moved.read,
                     1e-6 * moved.written);
}

std::string dram_text(const DramBytes& moved, std::string_view kernel, const Cost& cost, const DramBytes* unfused) {
  const double formula = kernel == "unfused" ? cost.unfused_bytes : cost.bytes();
  std::string text = fmt::format("DRAM {:.2f} MB ({:.2f} read, {:.2f} written), {:.3f} of the formula", 1e-6 * sum(moved),
                                 1e-6 * moved.read, 1e-6 * moved.written, sum(moved) / formula);
  if (unfused && sum(*unfused) > 0 && cost.unfused_bytes > 0)
    text += fmt::format("; {:.1f} % less than unfused, {:.1f} % by the formula", 100 * (1 - sum(moved) / sum(*unfused)),
                        100 * (1 - cost.bytes() / cost.unfused_bytes));
  return text;
}

std::string resources_text(const LaunchedFunction& f) {
  return fmt::format("{}: {} registers, {} + {} B shared{}, {} threads x {} blocks, {} on a multiprocessor: occupancy {:.0f} %",
                     f.name, f.registers, f.static_shared, f.dynamic_shared,
                     f.local_bytes ? fmt::format(", {} B of stack and spills", f.local_bytes) : "", f.threads, f.blocks,
                     f.blocks_per_sm, 100 * f.occupancy);
}

nlohmann::ordered_json json_of(const DramBytes& d) { return FieldWriter::json_of(d); }

DramBytes dram_from(const nlohmann::ordered_json& j) {
  DramBytes d;
  read_fields(j, d);
  return d;
}

nlohmann::ordered_json json_of(const std::vector<LaunchedFunction>& functions) { return FieldWriter::json_of(functions); }

std::vector<LaunchedFunction> functions_from(const nlohmann::ordered_json& j) {
  std::vector<LaunchedFunction> all;
  for (const auto& f : j) read_fields(f, all.emplace_back());
  return all;
}

}  // namespace assay
