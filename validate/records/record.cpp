// SPDX-License-Identifier: Apache-2.0
#include "validate/records/record.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {

void Record::caught(Tier t) {
  if (std::find(caught_by.begin(), caught_by.end(), t) == caught_by.end()) caught_by.push_back(t);
}

void Tally::add(const Record& r) {
  ++of[r.verdict];
  ++total;
  incomplete += r.incomplete;
  unwatchable += r.incomplete && r.verdict == Verdict::unsupported;
  if (r.verdict != Verdict::skipped && r.verdict != Verdict::unsupported && r.multi_tile_ragged) ++ragged;
}

void Tally::add(const Tally& more) {
  for (const auto& [verdict, count] : more.of) of[verdict] += count;
  total += more.total;
  ragged += more.ragged;
  incomplete += more.incomplete;
  unwatchable += more.unwatchable;
}

std::int64_t Tally::count(Verdict v) const {
  const auto at = of.find(v);
  return at == of.end() ? 0 : at->second;
}

std::int64_t Tally::bad() const {
  std::int64_t n = 0;
  for (const auto& [verdict, count] : of)
    if (is_bad(verdict)) n += count;
  return n;
}

std::string Tally::sentence() const {
  std::string text =
      fmt::format("{} passed · {} failed · {} suspect", count(Verdict::passed), count(Verdict::failed), count(Verdict::suspect));
  for (Verdict v : {Verdict::crashed, Verdict::timeout, Verdict::skipped})
    if (count(v)) text += fmt::format(" · {} {}", count(v), name(v));
  if (const std::int64_t declared = count(Verdict::unsupported) - unwatchable)
    text += fmt::format(" · {} unsupported as declared", declared);
  if (unwatchable) text += fmt::format(" · {} not watchable", unwatchable);
  if (interrupted) text += " · interrupted";
  return text + fmt::format(" · {:.1f} s", seconds);
}

std::string held_to_text(const Record& r) {
  if (!r.held_to.empty()) return r.held_to;
  const bool built_in = r.loaded.empty() && r.backend != "files";
  return built_in || r.numerics.empty() ? "" : r.numerics + " (as declared)";
}

std::string digest_text(const Record& r) { return r.digest ? fmt::format("{:016x}", *r.digest) : std::string(); }

}  // namespace assay
