// SPDX-License-Identifier: Apache-2.0
// ledger: packs the verdicts of record files; ledger-diff: says what differs between two ledgers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "validate/base/input.hpp"
#include "validate/command/commands.hpp"
#include "validate/console/table.hpp"
#include "validate/records/ledger.hpp"

namespace assay {

namespace {

std::vector<RecordFile> all_of(const std::vector<std::string>& paths) {
  std::vector<RecordFile> files;
  for (const std::string& path : paths) files.push_back(read_records(path));
  return files;
}

void show(const char* heading, const std::vector<std::string>& lines, std::size_t most) {
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) fmt::print("{:<8} {}\n", heading, lines[i]);
  if (lines.size() > most) fmt::print("{:<8} and {} more  (--all)\n", heading, lines.size() - most);
}

}  // namespace

int ledger_command(const LedgerFlags& flags) {
  const Ledger ledger = ledger_of(all_of(flags.sound), all_of(flags.faults));
  write_whole(flags.output, to_text(ledger));
  fmt::print("'{}': {} verdicts of {} ops, commit {}\n", plain(flags.output), ledger.lines.size(), ledger.judges.size(),
             ledger.commit);
  return kAllPassed;
}

int ledger_diff_command(const LedgerFlags& flags) {
  const Ledger old = read_ledger(flags.files[0]), now = read_ledger(flags.files[1]);
  const LedgerDifference d = difference(old, now);
  const std::size_t most = flags.all ? SIZE_MAX : 20;
  if (!d.changed.empty()) print_wrapped(fmt::format("of another version: {}", fmt::join(d.changed, ", ")));
  show("LOST", d.lost, SIZE_MAX);
  show("ALARM", d.alarms, SIZE_MAX);
  show("MOVED", d.moved, most);
  show("told", d.told, most);
  fmt::print(
      "{} -> {}: {} of {} faults lost, {} new alarms, {} kernels whose err/bound moved; {} cases in both, {} only in the old, {} "
      "only in the new\n",
      old.commit, now.commit, d.lost.size(), d.faults, d.alarms.size(), d.moved.size(), d.in_both, d.only_old, d.only_new);
  return d.holds() ? kAllPassed : kVerdictFailed;
}

}  // namespace assay
