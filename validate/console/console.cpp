// SPDX-License-Identifier: Apache-2.0
#include "validate/console/console.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <tuple>

#include "validate/base/version.hpp"
#include "validate/judge/pattern.hpp"
#include "validate/tasks/selection.hpp"
#include "validate/worker/listing.hpp"

namespace assay {

namespace {

std::size_t width_of(int fd) {
  constexpr std::size_t kUsual = 80;  // for files and pipes
  winsize size{};
  const bool known = ::isatty(fd) && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsual;
}

void clear_line() {
  if (::isatty(STDERR_FILENO)) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

void show_line(const std::string& what) {
  if (!::isatty(STDERR_FILENO)) return;
  // Note: on some terminals a line of the full width wraps.
  fmt::print(stderr, "\r{}\033[K", cut("  " + what, width_of(STDERR_FILENO) - 1));
  std::fflush(stderr);
}

// Failures of a kernel with equal reasons count as alike.
std::string reason_of(const Record& r) {
  return can_shrink(r) ? failure_kind(r) : fmt::format("{}: {}", name(r.verdict), r.reason);
}

std::string heading(const Record& r, bool colour) {
  std::string verdict(name(r.verdict));
  for (char& c : verdict) c = static_cast<char>(std::toupper(c));
  return fmt::format("{}  {}/{}  {}  {}\n", painted(verdict, r.verdict == Verdict::suspect ? Hue::yellow : Hue::red, colour),
                     r.c.op, r.kernel, name(r.c.dtype), r.reason);
}

// A fidelity without the first instruction that has it.
std::string level_of(const std::string& fidelity) {
  const std::size_t colon = fidelity.find(": `"), end = std::min(fidelity.find("; "), fidelity.size());
  return colon < end ? fidelity.substr(0, colon) + fidelity.substr(end) : fidelity;
}

}  // namespace

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

std::string cut(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  if (width == 0) return "";
  std::size_t end = width - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // never splits a UTF-8 character
  return text.substr(0, end) + "…";
}

std::string where_text(const Record& r) {
  for (const TensorSpec& t : op_named(r.c.op).tensors)
    if (t.name == r.worst->tensor) return fmt::format("{}[{}]", t.name, index_text(t.axes, r.worst->index));
  return r.worst->tensor;
}

std::string label_text(const Shrunk& s) {
  if (!s.after.empty())
    return fmt::format("{}: passes alone ({} of {}), fails after {} other case{} in the same process", s.label,
                       s.same_seed.run - s.same_seed.failed, s.same_seed.run, s.after.size(), s.after.size() == 1 ? "" : "s");
  std::string text = fmt::format("{}: fails again with its seed ({} of {})", s.label, s.same_seed.failed, s.same_seed.run);
  if (s.other_seeds.run) text += fmt::format(" and with others ({} of {})", s.other_seeds.failed, s.other_seeds.run);
  return text;
}

std::string replay_text(const std::string& repro, const std::string& loaded) {
  return fmt::format("{} replay {}{}'{}'", program_invocation_short_name, loaded, loaded.empty() ? "" : " ", repro);
}
std::string replay_text(const Record& r) {
  if (!r.given.empty()) return fmt::format("{} {}", program_invocation_short_name, r.given);
  return replay_text(r.repro + judge_word(judge_hash(r.c.op)), r.loaded);
}
std::string replay_text(const std::vector<std::string>& after, const Record& r) {
  std::string lines;
  for (const std::string& line : after) lines += fmt::format("{}' \\\n             '", line);
  return replay_text(lines + r.repro + judge_word(judge_hash(r.c.op)), r.loaded);
}

std::size_t stdout_width() { return width_of(STDOUT_FILENO); }

bool colours(std::string_view choice, int fd) {
  if (choice != "auto") return choice == "always";
  const char *none = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
  return ::isatty(fd) && !(none && *none) && !(terminal && std::string_view(terminal) == "dumb");
}

std::string painted(std::string_view text, Hue hue, bool colour) {
  return colour ? fmt::format("\033[{}m{}\033[0m", static_cast<int>(hue), text) : std::string(text);
}

std::string time_left(double seconds, std::int64_t done, std::int64_t total) {
  constexpr double kSoonest = 2;  // seconds; earlier, start-up dominates
  if (seconds < kSoonest || done == 0) return "";
  const double left = seconds / static_cast<double>(done) * static_cast<double>(total - done);
  return left < 90 ? fmt::format("about {:.0f} s left", left) : fmt::format("about {:.0f} min left", left / 60);
}

std::string short_text(const Record& r, bool colour) {
  std::string text = heading(r, colour);
  if (r.worst && r.wrong)
    text += fmt::format("  {}: got {:.6g}, golden {:.6g}, bound ±{:.3g}\n", where_text(r), r.worst->got, r.worst->golden,
                        r.worst->bound);
  return text + fmt::format("  {}\n", replay_text(r));
}

std::string failure_text(const Record& r, const Shrunk* shrunk, const std::string& across, const std::string& would_pass,
                         bool colour) {
  std::string text = heading(r, colour) + "\n", more;
  if (r.worst && r.wrong) {
    text += fmt::format("  where      {}{}\n", where_text(r), r.worst->tile.empty() ? "" : "      " + r.worst->tile);
    text += fmt::format("  got        {}\n", painted(fmt::format("{:.10g}", r.worst->got), Hue::red, colour));
    text += fmt::format("  golden     {:.10g}      bound ±{:.3g}\n", r.worst->golden, r.worst->bound);
    more += fmt::format("  pattern    {}\n", r.pattern);
  }
  const Record* smallest = shrunk && shrunk->smallest ? &*shrunk->smallest : nullptr;
  if (smallest)
    more += fmt::format("  smallest   {}   (shrunk from {})\n", summary_of(smallest->c),
                        difference(r.c, smallest->c, op_named(r.c.op).shape()));
  // Note: choices are tried on small cases alone (pattern.cpp).
  const std::string& reads_like = r.reads_like.empty() && smallest ? smallest->reads_like : r.reads_like;
  if (!reads_like.empty()) more += fmt::format("  reads like {}\n", reads_like);
  if (!would_pass.empty()) more += fmt::format("  would pass {}\n", would_pass);
  if (const std::string terms = held_to_text(r); r.worst && !terms.empty()) more += fmt::format("  held to    {}\n", terms);
  if (shrunk && !shrunk->label.empty()) more += fmt::format("  label      {}\n", label_text(*shrunk));
  if (const std::string shown = shrunk ? shown_by(smallest ? smallest->c : r.c, op_named(r.c.op).shape()) : ""; !shown.empty())
    more += fmt::format("  its case   {}\n", shown);
  if (!across.empty()) more += fmt::format("  across     {}\n", across);
  text += more + (more.empty() ? "" : "\n");
  if (!smallest)
    return text + fmt::format("  again      {}\n", replay_text(shrunk ? shrunk->after : std::vector<std::string>{}, r));
  return text + fmt::format("  again      {}\n  found as   {}\n", replay_text(*smallest), replay_text(r));
}

Doing::Doing(const std::string& what) { show_line(what); }
Doing::~Doing() { clear_line(); }

Console::Console(Show show, std::int64_t total, bool colour, bool each_case)
    : show_(show), terminal_(::isatty(STDERR_FILENO)), colour_(colour), each_case_(each_case), total_(total) {}

bool clearer(const Record& a, const Record& b) {
  constexpr double kNoDoubt = 10;  // of err/bound: no rounding that was forgotten does that
  const auto certainty = [](const Record& r) { return r.margin && *r.margin < kNoDoubt ? *r.margin : kNoDoubt; };
  constexpr std::int64_t kFew = 16;  // elements, which make no pattern
  const auto few = [](const Record& r) { return r.wrong && r.compared < kFew; };
  const auto unlike_plain = [](const Record& r) {
    const std::string& layout = r.c.layout;
    const int gaps = layout == "contiguous" ? 0 : layout == "far" ? 3 : layout.starts_with("padded") ? 1 : 2;
    return gaps + (r.c.fill != "normal");
  };
  const auto size = [](const Record& r) { return elements(r.c, op_named(r.c.op).shape()); };
  if (certainty(a) != certainty(b)) return certainty(a) > certainty(b);
  return std::tuple(few(a), unlike_plain(a), size(a), a.repro) < std::tuple(few(b), unlike_plain(b), size(b), b.repro);
}

void Console::add_bad(const Record& r) {
  ++bad_;
  const std::string reason = reason_of(r);
  across_.add_failed(r.c, op_named(r.c.op).shape(), r.kernel, reason, r.reads_like);
  if (r.wrong) habits_.add(r.c.op, r.kernel, r.would_pass);
  if (show_ != Show::everything) return;
  const auto same = [&](const Record& f) { return f.c.op == r.c.op && f.kernel == r.kernel && reason_of(f) == reason; };
  if (const auto at = std::find_if(failures_.begin(), failures_.end(), same); at != failures_.end()) {
    if (clearer(r, *at)) *at = r;
    return;
  }
  if (failures_.size() == kShown) {
    ++unshown_[fmt::format("{}/{} {}", r.c.op, r.kernel, reason)];
    return;
  }
  failures_.push_back(r);
  clear();
  fmt::print("{}\n", short_text(r, colour_));
  std::fflush(stdout);
}

void Console::show(const Record& r, const Shrunk* shrunk) {
  clear();
  const std::string reason = reason_of(r);
  std::string across = across_.sentence(r.c.op, r.kernel, reason);
  const std::int64_t cases = across_.failed(r.c.op, r.kernel, reason);
  if (across.empty() && cases > 1) across = fmt::format("{} cases fail like this", cases);
  Record shown = r;
  if (shown.reads_like.empty()) shown.reads_like = across_.reading(r.c.op, r.kernel, reason);
  fmt::print("{}\n", failure_text(shown, shrunk, across, habits_.sentence(r.c.op, r.kernel), colour_));
  std::fflush(stdout);
}

void Console::say(const std::string& what) {
  if (show_ != Show::last_line) show_line(what);
}

Console::Row& Console::row_of(const Record& r) {
  for (Row& row : rows_)
    if (!each_case_ && row.op == r.c.op && row.kernel == r.kernel && row.dtype == name(r.c.dtype)) return row;
  rows_.push_back({.op = r.c.op, .kernel = r.kernel, .dtype = std::string(name(r.c.dtype)), .at = {}});
  return rows_.back();
}

void Console::add(const Record& r) {
  ++done_;
  declines_.add(r);
  if (r.verdict == Verdict::skipped || r.incomplete) ++skipped_[fmt::format("{}: {}", name(r.verdict), r.reason)];
  const std::string kernel = fmt::format("{}/{}", r.c.op, r.kernel);
  if (const std::string terms = held_to_text(r); !terms.empty()) held_to_[terms].insert(kernel);
  if (!r.fidelity.empty()) fidelity_[r.fidelity].insert(kernel);
  if (!r.not_checked.empty())
    not_checked_ = fmt::format("{}{} on {}", in_words(r.not_checked), r.loaded.empty() ? "," : ", with " + r.loaded, r.backend);
  if (r.verdict != Verdict::unsupported && r.verdict != Verdict::skipped) {
    Row& row = row_of(r);
    ++row.cases;
    row.seconds += r.seconds;
    row.error = std::max(row.error, r.max_abs_error);
    if (r.margin && (*r.margin > row.margin || row.at.empty())) {
      row.margin = *r.margin;
      row.at = summary_of(r.c);
    }
    if (!r.c.reduced.empty()) ++reduced_;
    for (const Case::Reduction& to : r.c.reduced) {
      const auto [at, first] = reduced_to_.try_emplace(to.axis, to.to, to.to);
      if (!first) at->second = {std::min(at->second.first, to.to), std::max(at->second.second, to.to)};
    }
  }
  if (is_bad(r.verdict)) add_bad(r);
  else if (r.verdict == Verdict::passed && r.compared > 0) across_.add_passed(r.c, op_named(r.c.op).shape(), r.kernel);
  if (show_ != Show::last_line) progress(r);
}

void Console::progress(const Record& r) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - last_progress_ < std::chrono::milliseconds(100)) return;
  last_progress_ = now;
  const std::string left = time_left(std::chrono::duration<double>(now - start_).count(), done_, total_);
  say(fmt::format("{} of {}  {}{}{}{}", done_, total_, bad_ ? fmt::format("{} failed  ", bad_) : "", left,
                  left.empty() ? "" : "  ", r.repro));
}

void Console::clear() {
  if (show_ != Show::last_line) clear_line();
}

void Console::finish(const Tally& tally, const std::vector<PowerLine>& power, const std::vector<DeclaredLine>& declared,
                     const std::vector<SuggestedLine>& suggested) {
  if (show_ != Show::last_line) clear();
  if (show_ == Show::progress) return;
  if (show_ == Show::everything) {
    if (!unshown_.empty()) fmt::print("... and {} more reasons that are not shown; --json has them all\n\n", unshown_.size());
    table();
    notes(tally, power, declared, suggested);
  }
  const Hue hue = tally.bad() ? Hue::red : tally.ran() == 0 || tally.incomplete ? Hue::yellow : Hue::green;
  fmt::print("{}{}\n", painted(tally.sentence(), hue, colour_), tally.ran() == 0 ? " · nothing was run" : "");
}

void Console::table() const {
  std::size_t op = 2, kernel = 6, at = 2;
  for (const Row& r : rows_) {
    op = std::max(op, r.op.size());
    kernel = std::max(kernel, r.kernel.size());
    at = std::max(at, r.at.size());
  }
  // The other columns take `others`, spaces included; `at` gets the rest.
  const std::size_t others = 2 + op + 2 + kernel + 2 + 5 + 2 + (each_case_ ? 9 : 5) + 2 + 9 + 2 + 2 + 7;
  const std::size_t width = stdout_width();
  if (!each_case_) at = std::min(at, width >= others + 6 ? width - others : 0);  // a line per case keeps it whole
  if (rows_.empty()) return;
  fmt::print("  {:<{}}  {:<{}}  dtype  {:>5}  err/bound  {:<{}}  {:>7}\n", "op", op, "kernel", kernel,
             each_case_ ? "max error" : "cases", cut("at", at), at, "time");
  for (const Row& r : rows_)
    fmt::print("  {:<{}}  {:<{}}  {:<5}  {:>5}  {:>9}  {:<{}}  {:>5.1f} s\n", r.op, op, r.kernel, kernel, r.dtype,
               each_case_ ? fmt::format("{:>9.2e}", r.error) : fmt::format("{}", r.cases),
               r.at.empty() ? "-" : fmt::format("{:.3f}", r.margin), cut(r.at, at), at, r.seconds);
  fmt::print("\n");
}

void Console::notes(const Tally& tally, const std::vector<PowerLine>& power, const std::vector<DeclaredLine>& declared,
                    const std::vector<SuggestedLine>& suggested) const {
  constexpr std::size_t kReasons = 5;
  bool any = false;
  const auto note = [&](const std::string& text) {
    fmt::print("  {}\n", wrapped(text, stdout_width()));
    any = true;
  };
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
  for (const auto& [what, kernels] : held_to_) note(fmt::format("held to {}: {}", what, fmt::join(kernels, ", ")));
  std::set<std::string> of_all;
  for (const auto& [what, kernels] : fidelity_) of_all.insert(kernels.begin(), kernels.end());
  std::map<std::string, std::set<std::string>> fidelity;
  for (const auto& [what, kernels] : fidelity_)
    fidelity[of_all.size() > 1 ? level_of(what) : what].insert(kernels.begin(), kernels.end());
  for (const auto& [what, kernels] : fidelity) note(fmt::format("fidelity {}: {}", what, fmt::join(kernels, ", ")));
  for (const std::string& line : declines_.lines()) note(line);
  if (!not_checked_.empty()) note(fmt::format("not checked: {}", not_checked_));
  std::int64_t rejected = 0;
  for (const PowerLine& line : power) {
    if (!line.powerless()) ++rejected;
    else if (line.tried == 0)
      note(fmt::format("SUSPECT  {}/{}  {}  a fault shows only in cases that the kernel does not take: {}", line.op, line.kernel,
                       name(line.dtype), line.fault));
    else if (line.fault == kZerosFault)
      note(
          fmt::format("SUSPECT  {}/{}  {}  zeros would pass in over a quarter of the elements of {} cases: their bounds are not "
                      "below the values",
                      line.op, line.kernel, name(line.dtype), line.tried));
    else
      note(fmt::format("SUSPECT  {}/{}  {}  no bound of {} cases would have rejected a fault: {}", line.op, line.kernel,
                       name(line.dtype), line.tried, line.fault));
  }
  if (!power.empty())
    note(fmt::format("power: {} of {} faults rejected (one precision lower, last term dropped, zeros; by kernel and dtype)",
                     rejected, power.size()));
  for (const DeclaredLine& line : declared) {
    if (line.words_spare())
      note(fmt::format("DECLARED  {}/{}  no case of {} needs {}; `{}` fits", line.op, line.kernel, line.cases,
                       fmt::join(line.spare, ", "), line.fits));
    if (line.error_spare())
      note(fmt::format("DECLARED  {}/{}  in f32 it makes at most {:.2f} of the errors that `{}` predicts", line.op, line.kernel,
                       line.most_error, line.numerics));
  }
  for (const SuggestedLine& line : suggested) note(fmt::format("SUGGESTED  {}/{}  {}", line.op, line.kernel, text_of(line)));
  std::size_t shown = 0;
  for (const auto& [why, count] : skipped_) {
    if (shown++ == kReasons) {
      note(fmt::format("... and {} more reasons to skip; --json has them all", skipped_.size() - kReasons));
      break;
    }
    note(fmt::format("{} {}", count, why));
  }
  if (tally.incomplete)
    note(fmt::format("evidence incomplete: {} cases were asked for and not judged (exit code 3; --partial accepts that)",
                     tally.incomplete));
  if (any) fmt::print("\n");
}

}  // namespace assay
