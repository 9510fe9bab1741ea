// SPDX-License-Identifier: Apache-2.0
// run, selfcheck and replay: tasks judged, records written and shown.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <memory>
#include <system_error>

#include "cuda/core/vendor/library.hpp"
#include "validate/command/commands.hpp"
#include "validate/command/console.hpp"
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

std::string host_text() { return fmt::format("{} cores", ::sysconf(_SC_NPROCESSORS_ONLN)); }

// Whether nobody can read the output any more (a pipe into head): a run that prints nothing for long would not notice.
bool reader_left() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR);
}

// The record file, opened.  Whatever cannot be written is found out before the first case, and before anything that is
// there is touched.
std::unique_ptr<JsonLines> open_outputs(const RunFlags& flags, const RunHead& head) {
  std::vector<std::string> paths;
  for (const std::string& path : {flags.json, flags.junit, flags.markdown}) {
    if (path.empty()) continue;
    if (std::find(paths.begin(), paths.end(), path) != paths.end())
      throw BadInput(fmt::format("'{}' is named as two outputs", path));
    require_writable(path);
    paths.push_back(path);
  }
  if (flags.json.empty()) return nullptr;
  auto json = std::make_unique<JsonLines>(flags.json);
  json->write(to_json(head));
  return json;
}

// Runs tasks with everything that a run writes and shows.
Tally run_tasks(const std::vector<Task>& tasks, const RunFlags& flags, const std::string& backend, const RunHead& head,
                Console::Show show, const std::function<void(const Record&)>& also = {}) {
  std::unique_ptr<JsonLines> json = open_outputs(flags, head);
  std::int64_t total = 0;
  for (const Task& t : tasks) total += static_cast<std::int64_t>(t.kernels.size());
  if (show == Console::Show::everything)
    fmt::print("Assay {} · commit {} · {} · {} cases · seed {}\n\n", head.version, head.commit, head.device, total, head.seed);
  std::fflush(stdout);

  std::vector<Record> kept;
  Console console(show, total);
  bool heard = true;  // until whoever reads the output closes it
  const auto say = [&](const auto& print) {
    try {
      heard = heard && !reader_left();
      if (heard) print();
    } catch (const std::system_error&) {
      heard = false;
    }
    if (!heard) stop_requested = true;
  };
  const Tally tally = judge(tasks,
                            {.backend = backend,
                             .timeout_s = flags.timeout_s,
                             .budget_s = flags.budget_s,
                             .jobs = flags.jobs,
                             .fail_fast = flags.fail_fast,
                             .enough_bad = flags.enough_bad,
                             .sectors = flags.sectors,
                             .watch = flags.watch,
                             .stop = &stop_requested},
                            [&](const Record& r) {
                              if (json) json->write(to_json(r));
                              say([&] { console.add(r); });
                              if (also) also(r);
                              if (!flags.junit.empty() || !flags.markdown.empty()) kept.push_back(r);
                            });
  if (json) json->write(to_json(tally));
  say([&] { console.finish(tally); });
  if (!flags.junit.empty()) write_whole(flags.junit, to_junit(head, kept, tally));
  if (!flags.markdown.empty()) write_whole(flags.markdown, to_markdown(head, kept, tally));
  return tally;
}

int exit_code(const Tally& tally) {
  if (tally.interrupted) return 130;
  if (tally.bad()) return kVerdictFailed;
  return tally.ran() == 0 ? kNothingRun : kAllPassed;
}

}  // namespace

void check_watch(const RunFlags& flags, const std::string& backend) {
  if (flags.watch && backend != "simt") throw BadInput("--watch: only the simulated machine sees every access  (--backend simt)");
}

void print_sites(const std::vector<SiteTraffic>& sites) {
  if (!sites.empty())
    fmt::print("    {:<52} {:<16} {:<6} {:>12} {:>10} {:>10} {:>10}\n", "by source line", "", "", "bytes", "requests", "sectors",
               "wavefronts");
  for (const SiteTraffic& s : sites)
    fmt::print("    {:<52} {:<16} {:<6} {:>12} {:>10} {:>10} {:>10}\n", s.place, s.buffer, s.write ? "write" : "read", s.bytes,
               s.requests, s.sectors, s.wavefronts);
}

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
  if (backend == "cuda")
    for (const vendor::Library* library : {&vendor::cublaslt_library(), &vendor::cudnn_library()})
      if (library->available()) h.libraries[library->name()] = library->version();
  return h;
}

int run_command(const RunFlags& flags) {
  std::string backend;
  int code = 0;
  if (!backend_ready(flags, backend, code)) return code;
  check_watch(flags, backend);
  const auto expected = flags.same_as.empty() ? std::map<std::string, Outcome>{} : outcomes_in(flags.same_as);
  const std::vector<Task> tasks = tasks_of(flags.selection, backend == "simt" || flags.reduced);
  std::int64_t same = 0, unknown_there = 0;
  std::vector<std::string> different;
  struct Bits {
    std::int64_t equal = 0, different = 0;
    std::string first;
  };
  std::map<std::string, Bits> bits;  // by kernel
  const Tally tally =
      run_tasks(tasks, flags, backend, head_of(flags, backend),
                flags.quiet ? Console::Show::last_line : Console::Show::everything, [&](const Record& r) {
                  if (expected.empty()) return;
                  const auto at = expected.find(r.repro);
                  if (at == expected.end()) ++unknown_there;
                  else if (at->second.verdict == name(r.verdict)) ++same;
                  else different.push_back(fmt::format("{}: {} here, {} there", r.repro, name(r.verdict), at->second.verdict));
                  if (at == expected.end() || at->second.digest.empty() || !r.digest) return;
                  Bits& b = bits[fmt::format("{}/{} {}", r.c.op, r.kernel, name(r.c.dtype))];
                  if (at->second.digest == digest_text(r)) ++b.equal;
                  else if (b.different++ == 0) b.first = r.repro;
                });
  code = exit_code(tally);
  if (expected.empty()) return code;
  for (const auto& [kernel, b] : bits) {
    if (!flags.quiet)
      fmt::print("{:<48} {:>4} outputs bit-equal, {:>4} not{}{}\n", kernel, b.equal, b.different, b.different ? "; first " : "",
                 b.first);
    if (flags.bit_equal && b.different) different.push_back(fmt::format("{}: other bits", b.first));
  }
  for (const std::string& line : different) fmt::print("DIFFERENT  {}\n", line);
  fmt::print("{} verdicts as in {}, {} different, {} cases that it does not have\n", same, flags.same_as, different.size(),
             unknown_there);
  if (code == kAllPassed && same == 0) throw BadInput(fmt::format("'{}' has none of these cases", flags.same_as));
  return code == kAllPassed && !different.empty() ? static_cast<int>(kVerdictFailed) : code;
}

int selfcheck_command(const RunFlags& flags) {
  if (flags.fail_fast) throw BadInput("--fail-fast: every verdict of a selfcheck but the last should be a bad one");
  std::string backend;
  int code = 0;
  if (!backend_ready(flags, backend, code)) return code;
  check_watch(flags, backend);
  const std::vector<Task> tasks = tasks_of(flags.selection, backend == "simt", true);
  if (tasks.empty()) throw BadInput("no broken kernels are built into this program; the tests' validate-trial has them");

  struct Trial {
    std::int64_t passed = 0, bad = 0;
    std::string first;  // the case that first failed it, and why
  };
  std::map<std::string, Trial> trials;
  for (const Task& t : tasks)
    for (const Kernel* k : t.kernels) trials[std::string(k->op) + "/" + std::string(k->name)];
  const auto try_on = [&](const std::string& machine, const std::vector<Task>& of) {
    RunFlags once = flags;
    once.enough_bad = 1;  // caught is caught
    if (machine != backend) once.json = once.junit = once.markdown = "";
    return run_tasks(of, once, machine, head_of(flags, machine), Console::Show::progress, [&](const Record& r) {
      Trial& t = trials[r.c.op + "/" + r.kernel];
      if (is_bad(r.verdict) && t.bad++ == 0)
        t.first = fmt::format("{}{}: {}", machine == backend ? "" : "(on " + machine + ") ", r.reason, summary_of(r.c));
      if (r.verdict == Verdict::passed) ++t.passed;
    });
  };
  Tally tally = try_on(backend, tasks);
  // A race may never show on a GPU; simt runs the threads in orders that bring it out.
  if (backend == "cuda" && !tally.interrupted) {
    std::vector<Task> again = tasks_of(flags.selection, true, true);
    for (Task& t : again)
      std::erase_if(t.kernels, [&](const Kernel* k) { return trials[std::string(k->op) + "/" + std::string(k->name)].bad > 0; });
    std::erase_if(again, [](const Task& t) { return t.kernels.empty(); });
    if (!again.empty()) tally.seconds += try_on("simt", again).seconds;
  }
  std::int64_t missed = 0;
  if (!flags.quiet) fmt::print("  {:<52} {:>7}  {}\n", "broken kernel", "passed", "then failed by");
  for (const auto& [name, t] : trials) {
    if (t.bad == 0) ++missed;
    if (!flags.quiet) fmt::print("  {:<52} {:>7}  {}\n", name, t.passed, t.bad ? t.first : "MISSED");
  }
  if (!flags.quiet) fmt::print("\n");
  fmt::print("{} broken kernels: {} caught, {} missed · {} · {:.1f} s\n", trials.size(),
             static_cast<std::int64_t>(trials.size()) - missed, missed, backend, tally.seconds);
  if (tally.interrupted) return 130;
  return missed ? kVerdictFailed : kAllPassed;
}

int replay_command(const std::string& line, const RunFlags& flags) {
  std::string backend;
  int code = 0;
  if (!backend_ready(flags, backend, code)) return code;
  check_watch(flags, backend);
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

  const std::vector<Task> tasks{{&op, repro_line.what, chosen}};
  const JudgeOptions options{.backend = backend, .timeout_s = flags.timeout_s, .sectors = true, .watch = flags.watch,
                             .stop = &stop_requested};
  const Tally tally = judge(tasks, options, [&](const Record& r) {
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
    if (r.digest) fmt::print("  digest         {}\n", digest_text(r));
    if (!r.rows_checked.empty())
      fmt::print("  golden         {} of {} rows{}\n", r.rows_checked.size(), r.rows,
                 r.sweep_margin ? fmt::format("; all rows by a sweep, err/bound {:.3g}", *r.sweep_margin) : "");
    fmt::print("  bytes          {:.0f} by formula (unfused {:.0f})\n", r.cost.bytes(), r.cost.unfused_bytes);
    for (const auto& [tensor, t] : r.traffic)
      fmt::print("    {:<12} read {} (unique {}, {} sectors) · written {} (unique {}, {} sectors)\n", tensor, t.read_bytes,
                 t.unique_read_bytes, t.read_sectors, t.written_bytes, t.unique_written_bytes, t.written_sectors);
    print_sites(r.sites);
    fmt::print("  time           {:.3f} s on {}\n\n", r.seconds, backend);
  });
  fmt::print("{}\n", tally.sentence());
  return exit_code(tally);
}

}  // namespace assay
