// SPDX-License-Identifier: Apache-2.0
// run, selfcheck and replay: tasks judged, records written and shown.
#include <fmt/color.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <ctime>
#include <memory>

#include "validate/command/commands.hpp"
#include "validate/error.hpp"
#include "validate/version.hpp"

namespace assay {

namespace {

std::string now_utc() {
  const std::time_t t = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&t));
  return text;
}

std::string host_text() {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  return fmt::format("{} cores", ::sysconf(_SC_NPROCESSORS_ONLN));
}

// The table's rows: the worst of each (op, kernel, dtype).
struct Row {
  std::string op, kernel, dtype, at;
  std::int64_t cases = 0, unsupported = 0, bad = 0, ragged = 0;
  double margin = 0, seconds = 0;
};

class Console {
 public:
  explicit Console(bool quiet, std::int64_t total) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO)), total_(total) {}

  void add(const Record& r) {
    ++done_;
    Row& row = row_of(r);
    if (r.verdict == Verdict::unsupported || r.verdict == Verdict::skipped) {
      ++row.unsupported;
    } else {
      ++row.cases;
      row.seconds += r.seconds;
      if (r.multi_tile_ragged) ++row.ragged;
      if (r.margin && (*r.margin > row.margin || row.at.empty())) row.margin = *r.margin, row.at = summary_of(r.c);
    }
    if (is_bad(r.verdict)) {
      ++row.bad;
      clear();
      if (!quiet_ && shown_++ < kShown) fmt::print("{}\n", failure_text(r));
    }
    if (terminal_ && !quiet_) {
      fmt::print(stderr, "\r  {} of {}  {:<70.70}", done_, total_, r.repro);
      std::fflush(stderr);
    }
  }

  void table() {
    clear();
    if (quiet_) return;
    if (shown_ > kShown) fmt::print("... and {} more that are not shown; --json has them all\n\n", shown_ - kShown);
    fmt::print("  {:<20} {:<24} {:<6} {:>6} {:>7} {:>16}  {:<58} {:>7}\n", "op", "kernel", "dtype", "cases", "ragged",
               "worst err/bound", "at", "time");
    for (const Row& r : rows_)
      if (r.cases)
        fmt::print("  {:<20} {:<24} {:<6} {:>6} {:>6}% {:>16}  {:<58} {:>5.1f} s\n", r.op, r.kernel, r.dtype, r.cases,
                   100 * r.ragged / r.cases, r.at.empty() ? "-" : fmt::format("{:.2f}", r.margin), r.at, r.seconds);
    fmt::print("\n");
  }

 private:
  static constexpr int kShown = 10;
  Row& row_of(const Record& r) {
    for (Row& row : rows_)
      if (row.op == r.c.op && row.kernel == r.kernel && row.dtype == name(r.c.dtype)) return row;
    rows_.push_back({.op = r.c.op, .kernel = r.kernel, .dtype = std::string(name(r.c.dtype)), .at = {}});
    return rows_.back();
  }
  void clear() {
    if (terminal_ && !quiet_) fmt::print(stderr, "\r{:<90}\r", "");
  }
  bool quiet_, terminal_;
  std::int64_t done_ = 0, total_;
  int shown_ = 0;
  std::vector<Row> rows_;
};

// Runs tasks with everything that a run writes and shows.
Tally run_tasks(const std::vector<Task>& tasks, const RunFlags& flags, const std::string& backend, const RunHead& head,
                const std::function<void(const Record&)>& also = {}) {
  // Whatever cannot be written is found out before the first case is run.
  for (const std::string& path : {flags.junit, flags.markdown})
    if (!path.empty()) write_whole(path, "");
  std::unique_ptr<JsonLines> json;
  if (!flags.json.empty()) {
    json = std::make_unique<JsonLines>(flags.json);
    json->write(to_json(head));
  }
  std::int64_t total = 0;
  for (const Task& t : tasks) total += static_cast<std::int64_t>(t.kernels.size());
  if (!flags.quiet)
    fmt::print("Assay {} · commit {} · {} · {} cases · seed {}\n\n", head.version, head.commit, head.device, total, head.seed);
  std::fflush(stdout);

  std::vector<Record> kept;
  Console console(flags.quiet, total);
  const Tally tally = judge(tasks,
                            {.backend = backend,
                             .device = head.device,
                             .timeout_s = flags.timeout_s,
                             .budget_s = flags.budget_s,
                             .jobs = flags.jobs,
                             .fail_fast = flags.fail_fast,
                             .sectors = flags.sectors,
                             .stop = &stop_requested},
                            [&](const Record& r) {
                              if (json) json->write(to_json(r));
                              console.add(r);
                              if (also) also(r);
                              if (!flags.junit.empty() || !flags.markdown.empty()) kept.push_back(r);
                            });
  if (json) json->write(to_json(tally));
  if (!flags.junit.empty()) write_whole(flags.junit, to_junit(head, kept, tally));
  if (!flags.markdown.empty()) write_whole(flags.markdown, to_markdown(head, kept, tally));
  console.table();
  return tally;
}

int exit_code(const Tally& tally) {
  if (tally.interrupted) return 130;
  if (tally.bad()) return kVerdictFailed;
  return tally.ran() == 0 ? kNothingRun : kAllPassed;
}

// Whether the run can go on with this backend; if not, `code` is what to exit with.
bool backend_ready(const RunFlags& flags, std::string& backend, int& code) {
  std::string why_not;
  backend = chosen_backend(flags.backend, why_not);
  if (flags.require_gpu && backend != "cuda") throw BadInput("--require-gpu: no GPU can be used here  (validate doctor)");
  if (why_not.empty()) return true;
  if (flags.skip_exit < 0) throw BadInput(fmt::format("backend {} cannot be used: {}  (validate doctor)", backend, why_not));
  fmt::print("skipped: backend {} cannot be used: {}\n", backend, why_not);
  code = flags.skip_exit;
  return false;
}

}  // namespace

RunHead head_of(const RunFlags& flags, const std::string& backend) {
  RunHead h;
  h.version = version();
  h.commit = commit();
  h.compiler = fmt::format("{} {}.{}.{}",
#if defined(__clang__)
                           "clang", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
                           "g++", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
  h.build = build_flags();
  h.backend = backend;
  for (const BackendInfo& b : backends())
    if (b.name == backend) h.device = b.device;
  h.host = host_text();
  h.date = now_utc();
  h.suite = flags.selection.suite;
  h.seed = flags.selection.seed;
  return h;
}

std::string failure_text(const Record& r) {
  std::string verdict(name(r.verdict));
  for (char& c : verdict) c = static_cast<char>(std::toupper(c));
  std::string text = fmt::format("{}  {}/{}  {}  {}\n\n", verdict, r.c.op, r.kernel, name(r.c.dtype), r.reason);
  if (r.worst && r.wrong) {
    const Op& op = op_named(r.c.op);
    std::string where;
    for (const TensorSpec& t : op.tensors)
      if (t.name == r.worst->tensor)
        for (std::size_t a = 0; a < t.axes.size(); ++a)
          where += fmt::format("{}{} {}", a ? ", " : "", name(t.axes[a]), r.worst->index[a]);
    text += fmt::format("  where      {}[{}]\n", r.worst->tensor, where);
    text += fmt::format("  got        {:.10g}\n", r.worst->got);
    text += fmt::format("  golden     {:.10g}      bound ±{:.3g}\n", r.worst->golden, r.worst->bound);
    text += fmt::format("  pattern    {}\n", r.pattern);
  }
  return text + fmt::format("  again      validate replay '{}'\n", r.repro);
}

int run_command(const RunFlags& flags) {
  std::string backend;
  int code = 0;
  if (!backend_ready(flags, backend, code)) return code;
  const std::vector<Task> tasks = tasks_of(flags.selection, backend == "simt");
  const Tally tally = run_tasks(tasks, flags, backend, head_of(flags, backend));
  fmt::print("{}\n", tally.sentence());
  return exit_code(tally);
}

int selfcheck_command(const RunFlags& flags) {
  std::string backend;
  int code = 0;
  if (!backend_ready(flags, backend, code)) return code;
  const std::vector<Task> tasks = tasks_of(flags.selection, backend == "simt", true);
  if (tasks.empty()) throw BadInput("no broken kernels are built into this program; the tests' validate-trial has them");

  struct Trial {
    std::int64_t passed = 0, bad = 0;
    std::string first;  // the repro line that first failed it, and why
  };
  std::map<std::string, Trial> trials;
  for (const Task& t : tasks)
    for (const Kernel* k : t.kernels) trials[std::string(k->op) + "/" + std::string(k->name)];
  RunFlags silent = flags;
  silent.quiet = true;
  const Tally tally = run_tasks(tasks, silent, backend, head_of(flags, backend), [&](const Record& r) {
    Trial& t = trials[r.c.op + "/" + r.kernel];
    if (is_bad(r.verdict) && t.bad++ == 0) t.first = fmt::format("{}: {}", r.reason, summary_of(r.c));
    if (r.verdict == Verdict::passed) ++t.passed;
  });
  std::int64_t missed = 0;
  fmt::print("  {:<52} {:>7} {:>7}  {}\n", "broken kernel", "failed", "passed", "first failed by");
  for (const auto& [name, t] : trials) {
    if (t.bad == 0) ++missed;
    fmt::print("  {:<52} {:>7} {:>7}  {}\n", name, t.bad, t.passed, t.bad ? t.first : "MISSED");
  }
  fmt::print("\n{} broken kernels: {} caught, {} missed · {} · {:.1f} s\n", trials.size(),
             static_cast<std::int64_t>(trials.size()) - missed, missed, backend, tally.seconds);
  if (tally.interrupted) return 130;
  return missed ? kVerdictFailed : kAllPassed;
}

int replay_command(const std::string& line, const RunFlags& flags) {
  std::string backend;
  int code = 0;
  if (!backend_ready(flags, backend, code)) return code;
  const std::vector<OpShape> shapes = op_shapes();
  const Repro repro_line = parse_repro(line, shapes);
  const Op& op = op_named(repro_line.what.op);
  std::vector<const Kernel*> chosen;
  Names names;
  for (const Kernel& k : kernels())
    if (k.op == op.name) {
      names.push_back(k.name);
      if (repro_line.kernel.empty() ? !k.broken : k.name == repro_line.kernel) chosen.push_back(&k);
    }
  if (chosen.empty()) throw BadInput(unknown("kernel", repro_line.kernel, names) + "  (validate list kernels)");
  check(repro_line.what, op.shape());

  RunFlags one = flags;
  one.sectors = true;
  Tally tally;
  const std::vector<Task> tasks{{&op, repro_line.what, chosen}};
  judge(tasks, {.backend = backend, .timeout_s = flags.timeout_s, .sectors = true, .stop = &stop_requested}, [&](const Record& r) {
    tally.add(r);
    fmt::print("{}\n", r.repro);
    fmt::print("  verdict        {}{}\n", name(r.verdict), r.reason.empty() ? "" : ": " + r.reason);
    if (r.compared) fmt::print("  compared       {} elements, {} wrong\n", r.compared, r.wrong);
    if (r.margin) fmt::print("  err/bound      {:.4g}{}\n", *r.margin, r.exact ? "  (the answer is exactly representable)" : "");
    if (r.worst) {
      std::string where;
      for (std::int64_t i : r.worst->index) where += fmt::format("{}{}", where.empty() ? "" : ", ", i);
      fmt::print("  worst          {}[{}]  got {:.10g}  golden {:.10g}  bound ±{:.3g}\n", r.worst->tensor, where, r.worst->got,
                 r.worst->golden, r.worst->bound);
    }
    if (!r.pattern.empty()) fmt::print("  pattern        {}\n", r.pattern);
    if (r.deterministic) fmt::print("  deterministic  {}\n", *r.deterministic ? "yes" : "no");
    fmt::print("  bytes          {:.0f} by formula (unfused {:.0f})\n", r.cost.bytes(), r.cost.unfused_bytes);
    for (const auto& [tensor, t] : r.traffic)
      fmt::print("    {:<12} read {} (unique {}, {} sectors) · written {} (unique {}, {} sectors)\n", tensor, t.read_bytes,
                 t.unique_read_bytes, t.read_sectors, t.written_bytes, t.unique_written_bytes, t.written_sectors);
    fmt::print("  time           {:.3f} s on {}\n\n", r.seconds, backend);
  });
  fmt::print("{}\n", tally.sentence());
  return exit_code(tally);
}

}  // namespace assay
