// SPDX-License-Identifier: Apache-2.0
#include "validate/command/console.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "validate/judge/pattern.hpp"
#include "validate/tasks/selection.hpp"

namespace assay {

namespace {

constexpr std::size_t kUsualWidth = 120;  // of lines that go to a file or a pipe

std::size_t width_of(int fd) {
  winsize size{};
  const bool known = ::isatty(fd) && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsualWidth;
}

// ASCII text that starts in column 3, broken at spaces.
std::string wrapped(std::string text, std::size_t width) {
  for (std::size_t start = 0, room = std::max<std::size_t>(width, 20) - 2; text.size() - start > room;
       room = std::max<std::size_t>(width, 20) - 4) {
    const std::size_t space = text.rfind(' ', start + room);
    if (space == std::string::npos || space <= start) break;
    text.replace(space, 1, "\n    ");
    start = space + 5;
  }
  return text;
}

}  // namespace

std::string cut(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  return width == 0 ? "" : text.substr(0, width - 1) + "…";
}

std::string where_text(const Record& r) {
  for (const TensorSpec& t : op_named(r.c.op).tensors)
    if (t.name == r.worst->tensor) return fmt::format("{}[{}]", t.name, index_text(t.axes, r.worst->index));
  return r.worst->tensor;
}

std::string label_text(const Shrunk& s) {
  std::string text = fmt::format("{}: fails again with its seed ({} of {})", s.label, s.same_seed.failed, s.same_seed.run);
  if (s.other_seeds.run) text += fmt::format(" and with others ({} of {})", s.other_seeds.failed, s.other_seeds.run);
  return text;
}

std::string failure_text(const Record& r, const Shrunk* shrunk) {
  std::string verdict(name(r.verdict));
  for (char& c : verdict) c = static_cast<char>(std::toupper(c));
  std::string text = fmt::format("{}  {}/{}  {}  {}\n\n", verdict, r.c.op, r.kernel, name(r.c.dtype), r.reason), more;
  if (r.worst && r.wrong) {
    text += fmt::format("  where      {}{}\n", where_text(r), r.worst->tile.empty() ? "" : "      " + r.worst->tile);
    text += fmt::format("  got        {:.10g}\n", r.worst->got);
    text += fmt::format("  golden     {:.10g}      bound ±{:.3g}\n", r.worst->golden, r.worst->bound);
    more += fmt::format("  pattern    {}\n", r.pattern);
  }
  const Record* smallest = shrunk && shrunk->smallest ? &*shrunk->smallest : nullptr;
  if (smallest)
    more += fmt::format("  smallest   {}   (shrunk from {})\n", summary_of(smallest->c),
                        difference(r.c, smallest->c, op_named(r.c.op).shape()));
  if (!r.reads_like.empty()) more += fmt::format("  reads like {}\n", r.reads_like);
  if (shrunk && !shrunk->label.empty()) more += fmt::format("  label      {}\n", label_text(*shrunk));
  text += more + (more.empty() ? "" : "\n");
  if (!smallest) return text + fmt::format("  again      validate replay '{}'\n", r.repro);
  return text + fmt::format("  again      validate replay '{}'\n  found as   validate replay '{}'\n", smallest->repro, r.repro);
}

Console::Console(Show show, std::int64_t total, bool hold, bool each_case)
    : show_(show),
      terminal_(::isatty(STDERR_FILENO)),
      total_(total),
      hold_(hold && show == Show::everything),
      each_case_(each_case) {}

// Whether a failure is kept for later.
bool Console::hold(const Record& r) {
  if (!hold_ || !can_shrink(r)) return false;
  const auto same = [&](const Record& h) { return h.c.op == r.c.op && h.kernel == r.kernel && h.c.dtype == r.c.dtype; };
  if (held_.size() < kShown && std::none_of(held_.begin(), held_.end(), same))
    held_.push_back(r), say(fmt::format("failed: {}", r.repro));
  else ++unshown_;
  return true;
}

void Console::show(const Record& r, const Shrunk* shrunk) {
  clear();
  fmt::print("{}\n", failure_text(r, shrunk));
  std::fflush(stdout);
}

void Console::say(const std::string& what) {
  if (!terminal_) return;
  // Note: a line as wide as the terminal would wrap on some of them.
  fmt::print(stderr, "\r{}\033[K", cut("  " + what, width_of(STDERR_FILENO) - 1));
  std::fflush(stderr);
}

Console::Row& Console::row_of(const Record& r) {
  for (Row& row : rows_)
    if (!each_case_ && row.op == r.c.op && row.kernel == r.kernel && row.dtype == name(r.c.dtype)) return row;
  rows_.push_back({.op = r.c.op, .kernel = r.kernel, .dtype = std::string(name(r.c.dtype)), .at = {}});
  return rows_.back();
}

void Console::add(const Record& r) {
  ++done_;
  if (r.verdict == Verdict::skipped) ++skipped_[r.reason];
  if (r.verdict != Verdict::unsupported && r.verdict != Verdict::skipped) {
    Row& row = row_of(r);
    ++row.cases;
    row.seconds += r.seconds, row.error = std::max(row.error, r.max_abs_error);
    if (r.margin && (*r.margin > row.margin || row.at.empty())) row.margin = *r.margin, row.at = summary_of(r.c);
    if (!r.c.reduced.empty()) ++reduced_;
    for (const Case::Reduction& to : r.c.reduced) {
      const auto [at, first] = reduced_to_.try_emplace(std::string(name(to.axis)), to.to, to.to);
      if (!first) at->second = {std::min(at->second.first, to.to), std::max(at->second.second, to.to)};
    }
  }
  if (show_ == Show::last_line) return;
  if (show_ == Show::everything && is_bad(r.verdict) && !hold(r)) {
    if (failures_++ < kShown) show(r, nullptr);
    else ++unshown_;
  }
  progress(r);
}

void Console::progress(const Record& r) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - last_progress_ < std::chrono::milliseconds(100)) return;
  last_progress_ = now;
  say(fmt::format("{} of {}  {}", done_, total_, r.repro));
}

void Console::clear() {
  if (terminal_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

void Console::finish(const Tally& tally, const std::vector<PowerLine>& power) {
  if (show_ != Show::last_line) clear();
  if (show_ == Show::progress) return;
  if (show_ == Show::everything) {
    if (unshown_) fmt::print("... and {} more that are not shown; --json has them all\n\n", unshown_);
    table();
    notes(tally, power);
  }
  fmt::print("{}{}\n", tally.sentence(), tally.ran() == 0 ? " · nothing was run" : "");
}

void Console::table() const {
  std::size_t op = 2, kernel = 6, at = 2;
  for (const Row& r : rows_)
    op = std::max(op, r.op.size()), kernel = std::max(kernel, r.kernel.size()), at = std::max(at, r.at.size());
  // What the other columns and the spaces between them leave to `at`.
  const std::size_t others = 2 + op + 2 + kernel + 2 + 5 + 2 + (each_case_ ? 9 : 5) + 2 + 9 + 2 + 2 + 7;
  const std::size_t width = width_of(STDOUT_FILENO);
  if (!each_case_) at = std::min(at, width >= others + 6 ? width - others : 0);  // where it is one of the figures it is whole
  if (rows_.empty()) return;
  fmt::print("  {:<{}}  {:<{}}  dtype  {:>5}  err/bound  {:<{}}  {:>7}\n", "op", op, "kernel", kernel,
             each_case_ ? "max error" : "cases", cut("at", at), at, "time");
  for (const Row& r : rows_)
    fmt::print("  {:<{}}  {:<{}}  {:<5}  {:>5}  {:>9}  {:<{}}  {:>5.1f} s\n", r.op, op, r.kernel, kernel, r.dtype,
               each_case_ ? fmt::format("{:>9.2e}", r.error) : fmt::format("{}", r.cases),
               r.at.empty() ? "-" : fmt::format("{:.3f}", r.margin), cut(r.at, at), at, r.seconds);
  fmt::print("\n");
}

void Console::notes(const Tally& tally, const std::vector<PowerLine>& power) const {
  constexpr std::size_t kReasons = 5;
  bool any = false;
  const auto note = [&](const std::string& text) { fmt::print("  {}\n", wrapped(text, width_of(STDOUT_FILENO))), any = true; };
  if (tally.ragged)
    note(fmt::format("{} of {} cases with more than one tile and a ragged tail ({:.0f} %)", tally.ragged, tally.ran(),
                     100.0 * static_cast<double>(tally.ragged) / static_cast<double>(tally.ran())));
  if (reduced_) {
    std::string to;
    for (const auto& [axis, ends] : reduced_to_)
      to +=
          fmt::format("{}{} to {}", to.empty() ? "" : ", ", axis,
                      ends.first == ends.second ? fmt::format("{}", ends.first) : fmt::format("{}..{}", ends.first, ends.second));
    note(fmt::format("{} of {} cases are smaller than {}: {}", reduced_, tally.ran(),
                     each_case_ ? "the suite has them" : "their model's", to));
  }
  if (const Tally::Work& w = tally.work; tally.seconds >= 10)
    note(fmt::format("work of all threads: kernels {:.0f} s, inputs and goldens {:.0f} s, judging {:.0f} s, power {:.0f} s",
                     w.workers, w.goldens, w.judging, w.power));
  std::int64_t rejected = 0;
  for (const PowerLine& line : power) {
    if (!line.powerless()) ++rejected;
    else
      note(fmt::format("SUSPECT  {}/{}  {}  no bound of {} cases would have rejected a fault: {}", line.op, line.kernel,
                       name(line.dtype), line.tried, line.fault));
  }
  if (!power.empty())
    note(fmt::format("power: {} of {} faults rejected (precisions one lower, last terms dropped; by kernel and dtype)", rejected,
                     power.size()));
  std::size_t shown = 0;
  for (const auto& [why, count] : skipped_) {
    if (shown++ == kReasons) {
      note(fmt::format("... and {} more reasons to skip; --json has them all", skipped_.size() - kReasons));
      break;
    }
    note(fmt::format("{} skipped: {}", count, why));
  }
  if (any) fmt::print("\n");
}

}  // namespace assay
