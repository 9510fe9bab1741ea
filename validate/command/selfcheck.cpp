// SPDX-License-Identifier: Apache-2.0
// selfcheck: tests the judge, which must fail every broken kernel.  Tells which tier found each, and which rules that are used
// elsewhere would have missed it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "validate/base/error.hpp"
#include "validate/base/version.hpp"
#include "validate/command/commands.hpp"
#include "validate/console/trials.hpp"
#include "validate/records/ledger.hpp"

namespace assay {

namespace {

// The plain, sound kernel of an op is the first of these that it has.  A rule judges only cases on which it passes this kernel.
constexpr std::string_view kPlain[] = {"naive", "unfused"};

class Selfcheck {
 public:
  Selfcheck(const SelfcheckFlags& flags, std::string backend)
      : flags_(flags), backend_(std::move(backend)), policies_(flags.policies || !flags.policy.empty()) {}

  int run() {
    std::vector<Task> tasks = tasks_of(flags_.run.selection, backend_ == "simt", true);
    if (!flags_.unless.empty() && !tasks.empty()) {
      leave_out_known(tasks);
      if (tasks.empty()) return kAllPassed;
    }
    if (tasks.empty()) throw BadInput(fmt::format("the set '{}' has no broken kernels", flags_.run.set));
    for (const Task& t : tasks)
      for (const Kernel* k : t.kernels) trial(*k);
    if (policies_ || flags_.corpus) judge_fixed();
    if (stop_requested) tally_.interrupted = true;
    else judge_suite(backend_, std::move(tasks));
    // A race may never show on a GPU, so kernels that passed there are judged on simt, which tries other orders of threads.
    if (backend_ == "cuda" && !tally_.interrupted && !flags_.corpus) {
      std::vector<Task> again = tasks_of(flags_.run.selection, true, true);
      for (Task& t : again) std::erase_if(t.kernels, [&](const Kernel* k) { return trial(*k).bad > 0; });
      std::erase_if(again, [](const Task& t) { return t.kernels.empty(); });
      if (!again.empty()) judge_suite("simt", std::move(again));
    }
    show();
    if (tally_.interrupted) return kInterrupted;
    if (good()) return kAllPassed;
    return tally_.incomplete > 0 ? kIncomplete : kVerdictFailed;
  }

 private:
  Trial& trial(const Kernel& k) { return trials_[std::string(k.op)][std::string(k.name)]; }

  static const Kernel& plain(std::string_view op) {
    for (const std::string_view name : kPlain)
      if (const Kernel* k = find_kernel(op, name)) return *k;
    throw BadInput(fmt::format("{} has no kernel '{}', which the rules need for comparison", op, fmt::join(kPlain, "' or '")));
  }

  // Leaves out what the judge of a ledger was tried on already.
  void leave_out_known(std::vector<Task>& tasks) const {
    const Ledger ledger = read_ledger(flags_.unless);
    std::set<std::string> searched;
    std::erase_if(tasks, [&](const Task& t) {
      const auto at = ledger.judges.find(std::string(t.op->name));
      const bool known = ledger.suites == suites_hash() && at != ledger.judges.end() && at->second == judge_hash(t.op->name);
      if (!known) searched.insert(std::string(t.op->name));
      return known;
    });
    if (searched.empty()) fmt::print("judge and suites are those of '{}': nothing is searched\n", flags_.unless);
    else
      fmt::print("judge or suites are not those of '{}', so faults are searched of: {}\n", flags_.unless,
                 fmt::join(searched, ", "));
  }

  // Puts the plain kernel first in each task, since the rules need its figures.
  void add_plain(std::vector<Task>& tasks) const {
    for (Task& t : tasks) t.kernels.insert(t.kernels.begin(), &plain(t.op->name));
  }

  void judge_fixed() {
    Selection fixed = flags_.run.selection;
    fixed.suite = "fixed";
    std::vector<Task> tasks = tasks_of(fixed, backend_ == "simt", true);
    add_plain(tasks);
    JudgeOptions options = judge_options(flags_.run, backend_);
    options.policies = true;
    const Tally tally = judge(tasks, options, [&](const Record& judged) {
      Record r = judged;
      const Kernel& sound = plain(r.c.op);
      policies_of_case_.ask(r, sound, r.kernel == plain(r.c.op).name ? nullptr : &trials_[r.c.op][r.kernel].fixed);
    });
    tally_.interrupted = tally.interrupted;
  }

  void judge_suite(const std::string& machine, std::vector<Task> tasks) {
    RunFlags once = flags_.run;
    once.markdown = "";  // show() writes the matrix there
    if (machine != backend_) once.json = once.junit = "";
    if (policies_) add_plain(tasks);
    // Small cases come first: a kernel that fails one of them skips the expensive ones.
    std::stable_sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) {
      return a.op == b.op ? elements(a.c, a.op->shape()) < elements(b.c, b.op->shape()) : a.op < b.op;
    });
    JudgeOptions options = judge_options(once, machine);
    options.policies = policies_;
    options.enough = [this](const Kernel& k) { return k.broken && enough(trial(k)); };
    const Tally tally = run_tasks(tasks, once, options, head_of(machine, once.selection), Console::Show::progress,
                                  [&](Record& r) { count(machine, r); });
    tally_.interrupted = tally_.interrupted || tally.interrupted;
    tally_.incomplete += tally.incomplete;
    tally_.seconds += tally.seconds;
  }

  // Whether no further case of a kernel is needed.
  bool enough(const Trial& t) const {
    if (flags_.corpus) return t.passed > 0;
    if (flags_.every_case || t.bad == 0) return false;
    return !policies_ || std::all_of(t.suite.begin(), t.suite.end(), [](const PolicyCount& c) { return c.failed > 0; });
  }

  void count(const std::string& machine, Record& r) {
    Trial* t = policies_ && r.kernel == plain(r.c.op).name ? nullptr : &trials_[r.c.op][r.kernel];
    if (policies_) policies_of_case_.ask(r, plain(r.c.op), t ? &t->suite : nullptr);
    if (!t) return;
    if (r.verdict == Verdict::passed && r.compared > 0) ++t->passed;
    if (!is_bad(r.verdict)) return;
    for (const Tier tier : r.caught_by) ++t->seen[static_cast<std::size_t>(tier)];
    if (policies_ && r.policy_figures.empty() && !r.call_failed) ++t->stopped;
    if (t->bad++ > 0) return;
    if (!r.caught_by.empty()) t->first = r.caught_by.front();
    t->reason = fmt::format("{}: {} {}", r.reason, name(r.c.dtype), summary_of(r.c));
    t->on = machine == backend_ ? "" : machine;
  }

  std::size_t rule() const {
    return static_cast<std::size_t>(std::find(kPolicies.begin(), kPolicies.end(), flags_.policy) - kPolicies.begin());
  }

  bool good() const {
    const TrialTotals all = totals(trials_);
    if (flags_.corpus) return all.pass_a_case == all.kernels && all.pass_the_usual_test * 2 >= all.kernels;
    if (!flags_.policy.empty()) return all.missed[rule()] == 0;
    return all.caught == all.kernels;
  }

  void show() const {
    const TrialTotals all = totals(trials_);
    const std::string& suite = flags_.run.selection.suite;
    if (tally_.interrupted) {  // what was not caught yet is not missed
      fmt::print("{} broken kernels: {} caught so far · interrupted · {} · {:.1f} s\n", all.kernels, all.caught, backend_,
                 tally_.seconds);
      return;
    }
    if (flags_.corpus) {
      for (const auto& [op, kernels] : trials_)
        for (const auto& [name, t] : kernels)
          if (!t.can_pass()) fmt::print("  {}/{} passes no case of {}\n", op, name, suite);
      fmt::print("{} broken kernels: {} pass a case of {}, {} pass {} on one fixed shape · {} · {:.1f} s\n", all.kernels,
                 all.pass_a_case, suite, all.pass_the_usual_test, name(Policy::allclose), backend_, tally_.seconds);
      return;
    }
    if (!flags_.run.quiet) fmt::print("{}", matrix_text(trials_));
    if (!flags_.run.quiet && flags_.policies) fmt::print("{}\n", policy_lines(all, suite));
    if (!flags_.policy.empty()) {
      for (const auto& [op, kernels] : trials_)
        for (const auto& [name, t] : kernels)
          if (t.suite[rule()].failed == 0 && !flags_.run.quiet) fmt::print("  missed by {}: {}/{}\n", flags_.policy, op, name);
      fmt::print("{} broken kernels: {} caught by {}, {} missed; ", all.kernels, all.kernels - all.missed[rule()], flags_.policy,
                 all.missed[rule()]);
      fmt::print("this judge catches {} · {} · {:.1f} s\n", all.caught, backend_, tally_.seconds);
    } else {
      fmt::print("{} broken kernels: {} caught, {} missed · {} · {:.1f} s\n", all.kernels, all.caught, all.kernels - all.caught,
                 backend_, tally_.seconds);
    }
    if (!flags_.run.markdown.empty()) {
      const RunHead head = head_of(backend_, flags_.run.selection);
      const std::string title = fmt::format("`validate selfcheck --suite {} --seed {}{}` on {}, commit {}.", suite, head.seed,
                                            flags_.policies ? " --policies" : "", head.device, head.commit);
      write_whole(flags_.run.markdown, matrix_markdown(trials_, title, policies_, suite));
    }
  }

  const SelfcheckFlags& flags_;
  std::string backend_;
  bool policies_;
  Trials trials_;
  Policies policies_of_case_;
  Tally tally_;
};

}  // namespace

int selfcheck_command(const SelfcheckFlags& flags) {
  if (flags.run.fail_fast) throw BadInput("--fail-fast: a selfcheck expects bad verdicts, so it cannot stop at the first");
  if (!flags.run.markdown.empty()) require_writable(flags.run.markdown);
  std::string backend;
  int code = 0;
  if (!machine_ready(flags.run, backend, code)) return code;
  check_watch(flags.run, backend);
  if (!flags.witnesses.empty()) return witnesses_command(flags, backend);
  if (!flags.write_witnesses.empty()) return write_witnesses_command(flags, backend);
  return Selfcheck(flags, backend).run();
}

}  // namespace assay
