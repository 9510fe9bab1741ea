// SPDX-License-Identifier: Apache-2.0
// Reads a `case` record back, field by field in the order in which to_json() writes them.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "validate/base/error.hpp"
#include "validate/records/record.hpp"
#include "validate/records/text_file.hpp"

namespace assay {

namespace {

using Json = RecordJson;

template <std::size_t N>
std::size_t index_in(const std::string_view (&names)[N], const std::string& word, const char* key) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == word) return i;
  throw BadInput(fmt::format("the field '{}' is '{}', which is unknown", key, word));
}

Tier tier_of(const std::string& word) {
  for (std::size_t i = 0; i < kTiers.size(); ++i)
    if (kTiers[i] == word) return static_cast<Tier>(i);
  throw BadInput(fmt::format("the field 'caught_by' has '{}', which is unknown", word));
}

std::uint64_t hexadecimal(const std::string& text, const char* key) {
  std::uint64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v, 16);
  if (error != std::errc() || end != text.data() + text.size()) throw BadInput(fmt::format("the field '{}' is not a hash", key));
  return v;
}

Traffic traffic_of(const Json& j) {
  return {.read_bytes = field_in(j, "read_bytes"),
          .written_bytes = field_in(j, "written_bytes"),
          .unique_read_bytes = field_in(j, "unique_read_bytes"),
          .unique_written_bytes = field_in(j, "unique_written_bytes"),
          .read_sectors = j.value("read_sectors", std::uint64_t{0}),
          .written_sectors = j.value("written_sectors", std::uint64_t{0})};
}

Record::Worst worst_of(const Json& j) {
  return {.tensor = text_in(j, "tensor"),
          .index = field_in(j, "index").get<std::vector<std::int64_t>>(),
          .got = number_in(j, "got"),
          .golden = number_in(j, "golden"),
          .bound = number_in(j, "bound"),
          .tile = j.value("tile", "")};
}

}  // namespace

Record record_of(const Json& j, const Case& c) {
  Record r;
  const auto optional = [&](const char* key) {
    return j.contains(key) ? std::optional<double>(number_in(j, key)) : std::nullopt;
  };
  r.c = c;
  r.kernel = text_in(j, "kernel");
  r.backend = text_in(j, "backend");
  r.numerics = j.value("numerics", "");
  r.held_to = j.value("held_to", "");
  r.loaded = j.value("loaded", "");
  r.given = j.value("given", "");
  r.code = j.value("code", "");
  r.fidelity = j.value("fidelity", "");
  r.not_checked = j.value("not_checked", std::vector<std::string>{});
  r.verdict = static_cast<Verdict>(index_in(kVerdicts, text_in(j, "verdict"), "verdict"));
  r.reason = j.value("reason", "");
  if (const auto at = j.find("caught_by"); at != j.end())
    for (const Json& tier : *at) r.caught(tier_of(tier.get<std::string>()));
  r.exact = field_in(j, "exact");
  r.multi_tile_ragged = field_in(j, "multi_tile_ragged");
  r.compared = field_in(j, "compared");
  r.wrong = field_in(j, "wrong");
  r.margin = optional("margin");
  r.max_abs_error = optional("max_abs_error").value_or(0);
  if (const auto at = j.find("worst"); at != j.end()) r.worst = worst_of(*at);
  if (const auto at = j.find("stages"); at != j.end())
    for (const auto& [output, margin] : at->items()) r.stages[output] = number_of(margin, output);
  r.end_to_end = optional("end_to_end");
  r.pattern = j.value("pattern", "");
  r.reads_like = j.value("reads_like", "");
  if (const auto at = j.find("would_pass"); at != j.end()) r.would_pass = at->get<std::vector<std::string>>();
  if (const auto at = j.find("deterministic"); at != j.end()) r.deterministic = at->get<bool>();
  if (j.contains("digest")) r.digest = hexadecimal(text_in(j, "digest"), "digest");
  if (const auto at = j.find("sampled"); at != j.end()) {
    r.rows = at->value("rows", std::int64_t{0});
    r.rows_checked = at->value("checked", std::vector<std::int64_t>{});
    if (at->contains("sweep_margin")) r.sweep_margin = number_in(*at, "sweep_margin");
  }
  r.rms_ratio = optional("rms_ratio");
  r.bias = optional("bias");
  r.relations = j.value("relations", std::vector<std::string>{});
  r.faults = j.value("faults", std::map<std::string, bool>{});
  r.incomplete = j.value("incomplete", false);
  r.cost.flops = number_in(j, "flops");
  const Json& bytes = field_in(j, "bytes");
  r.cost.bytes_read = number_in(bytes, "formula");
  r.cost.unfused_bytes = number_in(bytes, "unfused_formula");
  if (const auto counted = bytes.find("counted"); counted != bytes.end())
    for (const auto& [tensor, t] : counted->items()) r.traffic[tensor] = traffic_of(t);
  r.seconds = number_in(j, "seconds");
  r.repro = text_in(j, "repro");
  return r;
}

}  // namespace assay
