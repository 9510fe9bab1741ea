// SPDX-License-Identifier: Apache-2.0
// run: judges tasks, writes records and prints them; and what replay and selfcheck share with it.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <system_error>

#include "validate/backends/backends.hpp"
#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/base/stopwatch.hpp"
#include "validate/command/commands.hpp"
#include "validate/command/resume.hpp"
#include "validate/console/console.hpp"
#include "validate/files/cuda_source.hpp"
#include "validate/opfile/op_file.hpp"
#include "validate/records/render.hpp"
#include "validate/tasks/loaded.hpp"
#include "validate/worker/process.hpp"
#include "validate/worker/sandbox.hpp"

namespace assay {

namespace {

// Whether the reader of a pipe (like head) has gone.  A run that prints nothing for long would not notice it by a failed write.
bool reader_left() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR);
}

// Opens the record file.  First checks that all outputs can be written, before any existing file is touched and any case is run.
Begun open_outputs(const RunFlags& flags, std::vector<Task>& tasks, const RunHead& head) {
  for (const std::string& path : {flags.junit, flags.markdown})
    if (!path.empty()) require_writable(path);
  if (!flags.resume.empty()) return resume(flags.resume, tasks, head);
  if (flags.json.empty()) return {};
  Begun begun{std::make_unique<JsonLines>(flags.json), {}};
  begun.file->write(to_json(head));
  return begun;
}

// The cases of the record's kernel that were judged before it.
std::vector<Case> cases_before(std::span<const Task> tasks, const Record& r) {
  std::vector<Case> cases;
  for (const Task& t : tasks) {
    if (t.op->name != r.c.op) continue;
    if (repro(t.c, t.op->shape(), r.kernel) == r.repro) return cases;
    if (std::any_of(t.kernels.begin(), t.kernels.end(), [&](const Kernel* k) { return k->name == r.kernel; }))
      cases.push_back(t.c);
  }
  return {};
}

}  // namespace

int exit_code(const Tally& tally, bool partial) {
  if (tally.interrupted) return kInterrupted;
  if (tally.bad()) return kVerdictFailed;
  return partial || (tally.ran() > 0 && tally.incomplete == 0) ? kAllPassed : kIncomplete;
}

bool say_incomplete(std::span<const RecordFile> files) {
  bool any = false;
  for (const RecordFile& f : files) {
    if (f.incomplete.empty()) continue;
    fmt::print("INCOMPLETE: '{}': {}\n", plain(f.path), f.incomplete);
    any = true;
  }
  return any;
}

int exit_code(int code, bool incomplete, bool partial) {
  return code == kAllPassed && incomplete && !partial ? static_cast<int>(kIncomplete) : code;
}

Tally run_tasks(std::vector<Task> tasks, const RunFlags& flags, const JudgeOptions& options, RunHead head, Console::Show show,
                const std::function<void(Record&)>& also) {
  const Loaded* const loaded = kernels().empty() ? nullptr : kernels()[0].loaded;
  head.sandbox = sandbox_text(loaded && !is_own_worker(loaded->command) ? Confined::program : confined_on(options.backend));
  std::int64_t total = 0;
  for (const Task& t : tasks) total += static_cast<std::int64_t>(t.kernels.size());
  const Begun begun = open_outputs(flags, tasks, head);
  JsonLines* json = begun.file.get();
  if (show == Console::Show::everything)
    fmt::print("Assay {} · commit {} · {} · {} cases · seed {}\n\n", head.version, head.commit, head.device, total, head.seed);
  std::fflush(stdout);

  std::vector<Record> kept;
  Console console(show, total, colours(flags.colour, STDOUT_FILENO), head.suite == "errors");
  console.say(fmt::format("0 of {}  inputs and goldens of the first cases", total));
  bool heard = true;  // false once the reader of the output has gone
  const auto say = [&](const auto& print) {
    try {
      heard = heard && !reader_left();
      if (heard) print();
    } catch (const std::system_error&) {
      heard = false;
    }
    if (!heard) stop_requested = true;
  };
  const auto take = [&](Record r, bool recorded) {
    if (also) also(r);
    if (json && !recorded) json->write(to_json(r));
    say([&] { console.add(r); });
    if (!flags.junit.empty() || !flags.markdown.empty()) kept.push_back(std::move(r));
  };
  Tally before;
  for (const Record& r : begun.records) {
    before.add(r);
    if (options.power) options.power->add(r);
    take(r, true);
  }
  std::set_new_handler(nullptr);  // from here on, a case for which memory runs out is skipped
  JudgeOptions from_now = options;
  from_now.spent_s = program_time.seconds();
  Tally tally = judge(tasks, from_now, [&](const Record& judged) { take(judged, false); });
  tally.add(before);
  for (const Record& r : console.failures()) {
    const double left = flags.budget_s > 0 ? std::min(flags.shrink_s, flags.budget_s - program_time.seconds()) : flags.shrink_s;
    if (left <= 0 || stop_requested || !can_shrink(r)) {
      say([&] { console.show(r, nullptr); });
      continue;
    }
    console.say("shrinking " + r.repro);
    const Shrunk shrunk = shrink(r, cases_before(tasks, r), options, left);
    tally.seconds += shrunk.seconds;
    if (json) json->write(to_json(shrunk));
    say([&] { console.show(r, &shrunk); });
  }
  tally.interrupted = tally.interrupted || stop_requested;
  std::vector<PowerLine> lines;
  if (options.power && !tally.interrupted && !(flags.budget_s > 0 && tally.incomplete)) lines = options.power->lines();
  for (const PowerLine& line : lines) {
    if (json) json->write(to_json(line));
    if (line.powerless()) tally.add_powerless();
  }
  std::vector<DeclaredLine> declared;
  if (options.declared && !tally.interrupted && begun.records.empty()) declared = options.declared->looser();
  std::vector<SuggestedLine> suggested;
  if (options.suggested) suggested = options.suggested->lines();
  if (json)
    for (const DeclaredLine& line : declared) json->write(to_json(line));
  if (json)
    for (const SuggestedLine& line : suggested) json->write(to_json(line));
  tally.lax = console.declined() || !declared.empty();
  if (json) json->write(to_json(tally));
  if (const std::string& kept_in = flags.resume.empty() ? flags.json : flags.resume; tally.interrupted && !kept_in.empty())
    say([&] { fmt::print("the same command goes on with {}, in place of --json\n", flag_text("--resume", kept_in)); });
  say([&] { console.finish(tally, lines, declared, suggested); });
  if (!flags.junit.empty()) write_whole(flags.junit, to_junit(head, kept, tally));
  if (!flags.markdown.empty()) write_whole(flags.markdown, to_markdown(head, kept, tally));
  return tally;
}

JudgeOptions judge_options(const RunFlags& flags, const std::string& backend) {
  return {.backend = backend,
          .timeout_s = flags.timeout_s,
          .budget_s = flags.budget_s,
          .jobs = flags.jobs,
          .fail_fast = flags.fail_fast,
          .sectors = flags.sectors,
          .watch = flags.watch,
          .not_checked = left_unchecked(backend, checks_on(backend)),
          .relations = flags.all_relations ? Relations::all : Relations::share,
          .stop = &stop_requested};
}

namespace {

// Whether a run is to judge the whole of a suite whose cases were chosen to have power.  A part of a suite, model shapes or
// random draws may lack the cases that reject a fault, so power is not checked there.
bool whole_suite(const RunFlags& flags) {
  const std::string& suite = flags.selection.suite;
  return (suite == "smoke" || suite == "edges" || suite == "full") && flags.selection.shard.empty() && !flags.fail_fast &&
         flags.last_failed.empty() && flags.inputs.empty();
}

// What --same-as compares with.
struct Expected {
  struct Outcome {
    std::string verdict, digest;  // digest empty: there were no outputs
  };
  std::map<std::string, Outcome> of;          // by repro line
  std::map<std::string, std::string> judges;  // their versions, by op
  bool incomplete = false;
  // Whether another judge placed the tensors there, so that a kernel may have declined other strides or alignments.
  bool may_lie_otherwise(const std::string& op) const {
    const auto at = judges.find(op);
    return at == judges.end() || !at->second.starts_with(judge_hash(op));
  }
};

Expected expected_of(const std::string& path) {
  Expected expected;
  if (path.empty()) return expected;
  const RecordFile file = read_records(path);
  for (const JudgedCase& c : file.cases) expected.of[c.repro] = {c.verdict, c.digest};
  expected.judges = file.judges;
  if (expected.of.empty()) throw BadInput(fmt::format("'{}' holds no case", path));
  expected.incomplete = say_incomplete({&file, 1});
  return expected;
}

}  // namespace

void check_watch(const RunFlags& flags, const std::string& backend) {
  if (flags.watch && backend != "simt") throw BadInput("--watch: only the simulated machine sees every access  (--backend simt)");
}

void print_sites(const std::vector<SiteTraffic>& sites) {
  if (!sites.empty())
    fmt::print("    {:<32} {:>5} {:>10} {:>8} {:>8} {:>8}\n", "by source line", "", "bytes", "requests", "sectors", "waves");
  for (const SiteTraffic& s : sites)
    fmt::print("    {}, {}\n    {:<32} {:>5} {:>10} {:>8} {:>8} {:>8}\n", s.place, s.buffer, "", s.write ? "write" : "read",
               s.bytes, s.requests, s.sectors, s.wavefronts);
}

namespace {

bool ptx_kernels_ready(const BackendFlags& flags, int& code) {
  const std::string why_not = use_ptx_kernels(simt_device() + ", PTX");
  if (why_not.empty()) return true;
  return not_ready(flags, "ptx", why_not, code);
}

}  // namespace

bool machine_ready(const RunFlags& flags, std::string& backend, int& code) {
  const double limit_s = flags.budget_s > 0 ? std::min(flags.timeout_s, flags.budget_s) : flags.timeout_s;
  if (!flags.worker.empty()) {
    backend = load_kernels(with_op_files(flag_text("--worker", flags.worker)), {"/bin/sh", "-c", flags.worker}, limit_s).backend;
    return true;
  }
  BackendFlags machine = flags.machine;
  const bool ours_as_ptx = machine.backend == "ptx", of_source = !flags.cu.empty(), is_ptx = of_source || !flags.ptx.empty();
  if (ours_as_ptx && (is_ptx || !flags.plugin.empty()))
    throw BadInput("--backend ptx: it runs the kernels of this tree, and no others");
  if (ours_as_ptx || (is_ptx && machine.backend == "auto")) machine.backend = "simt";
  if (ours_as_ptx && !flags.set.empty()) throw BadInput("--backend ptx: it runs the kernels of this tree, and no --set");
  if (!backend_ready(machine, backend, code)) return false;
  if (!flags.set.empty()) load_set(flags.set, backend, limit_s);
  if (ours_as_ptx) return ptx_kernels_ready(machine, code);
  if (is_ptx) {
    std::vector<std::string> worker = own_worker(backend, of_source ? ptx_of(flags.cu) : flags.ptx);
    worker.push_back(flags.launch);
    const std::string loaded = of_source ? flag_text("--cu", flags.cu) : flag_text("--ptx", flags.ptx);
    load_kernels(with_op_files(fmt::format("{} {}", loaded, flag_text("--launch", flags.launch))), worker, limit_s);
  }
  if (!flags.plugin.empty())
    load_kernels(with_op_files(flag_text("--plugin", flags.plugin)), own_worker(backend, flags.plugin), limit_s);
  return true;
}

int run_command(const RunFlags& flags) {
  std::string backend;
  int code = 0;
  Selection selection = flags.selection;
  if (!flags.last_failed.empty()) selection.suite = "last-failed";
  if (!flags.inputs.empty()) selection.suite = "files";
  std::optional<Doing> doing;
  if (!flags.quiet) doing.emplace("opening the backend, making the cases of suite " + selection.suite);
  if (!machine_ready(flags, backend, code)) return code;
  require_kernels_of_files(flags.selection.ops);
  check_watch(flags, backend);
  const Expected expected = expected_of(flags.same_as);
  bool incomplete = expected.incomplete;  // whether the records that are read are
  std::vector<Task> tasks;
  if (!flags.inputs.empty()) {
    tasks = given_tasks(flags);
  } else if (flags.last_failed.empty()) {
    tasks = tasks_of(flags.selection, backend != "cuda" || flags.reduced);
  } else {
    const RecordFile file = read_records(flags.last_failed);
    incomplete = say_incomplete({&file, 1}) || incomplete;
    tasks = bad_tasks(file, flags.selection);
  }
  check_ptx_kernels(tasks);
  RunHead head = head_of(backend, selection);
  head.plan = plan_of(tasks, flags);
  doing.reset();
  std::int64_t same = 0, unknown_there = 0, declined_once = 0;
  std::vector<std::string> different;
  struct Bits {
    std::int64_t equal = 0, different = 0;
    std::string first;
  };
  std::map<std::string, Bits> bits;  // by kernel
  Power power;
  JudgeOptions options = judge_options(flags, backend);
  if (flags.suggest) options.suggested = std::make_shared<Suggested>();
  if (whole_suite(flags)) {
    options.power = &power;
    // Note: smoke lacks cases that show what words are for.
    if (flags.selection.suite != "smoke") options.declared = std::make_shared<Declared>();
  }
  constexpr std::string_view declined = name(Verdict::unsupported);
  const Tally tally = run_tasks(
      std::move(tasks), flags, options, head, flags.quiet ? Console::Show::last_line : Console::Show::everything,
      [&](const Record& r) {
        if (expected.of.empty()) return;
        const auto at = expected.of.find(r.repro);
        // Note: a machine that has no room for a case, or cannot run the kernel, skips it, which says nothing of the kernel.
        if (at == expected.of.end() || at->second.verdict == name(Verdict::skipped) || r.verdict == Verdict::skipped)
          ++unknown_there;
        else if (at->second.verdict == name(r.verdict)) ++same;
        else if (expected.may_lie_otherwise(r.c.op) && (r.verdict == Verdict::unsupported) != (at->second.verdict == declined))
          ++declined_once;
        else different.push_back(fmt::format("{}: {} here, {} there", replay_text(r), name(r.verdict), at->second.verdict));
        if (at == expected.of.end() || at->second.digest.empty() || !r.digest) return;
        Bits& b = bits[fmt::format("{}/{} {}", r.c.op, r.kernel, name(r.c.dtype))];
        if (at->second.digest == digest_text(r)) ++b.equal;
        else if (b.different++ == 0) b.first = replay_text(r);
      });
  code = exit_code(tally, flags.partial);
  if (code == kAllPassed && flags.strict && tally.lax) {
    fmt::print("--strict: a kernel takes few of the cases, or declares what they do not need (exit code 3)\n");
    return kIncomplete;
  }
  if (expected.of.empty()) return exit_code(code, incomplete, flags.partial);
  Bits all;
  for (const auto& [kernel, b] : bits) {
    const bool wrong = flags.bit_equal && b.different;
    if (!flags.quiet || wrong)
      fmt::print("{}{:<48} {:>4} outputs bit-equal, {:>4} not{}{}\n", wrong ? "DIFFERENT  " : "", kernel, b.equal, b.different,
                 b.different ? "; first " : "", b.first);
    all.equal += b.equal;
    all.different += b.different;
  }
  for (const std::string& line : different) fmt::print("DIFFERENT  {}\n", line);
  if (declined_once)
    fmt::print(
        "not compared: {} cases that a kernel takes here and declines there, or the reverse; their tensors may lie otherwise, "
        "since another judge placed them\n",
        declined_once);
  fmt::print("{} verdicts as in {}, {} different, {} cases that only one has; {} outputs bit-equal, {} not\n", same,
             plain(flags.same_as), different.size(), unknown_there, all.equal, all.different);
  if (code == kAllPassed && same == 0) throw BadInput(fmt::format("'{}' has none of these cases", flags.same_as));
  if (code == kAllPassed && (!different.empty() || (flags.bit_equal && all.different))) return kVerdictFailed;
  return exit_code(code, incomplete, flags.partial);
}

}  // namespace assay
