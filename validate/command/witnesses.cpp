// SPDX-License-Identifier: Apache-2.0
// selfcheck --witnesses and --write-witnesses: the case of each broken kernel that shows its fault (validate/records/faults.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "validate/base/error.hpp"
#include "validate/command/commands.hpp"
#include "validate/records/faults.hpp"

namespace assay {

namespace {

using Kernels = std::map<std::string, std::vector<const Kernel*>>;  // by op

Kernels kernels_of(const std::vector<Task>& tasks) {
  Kernels all;
  for (const Task& t : tasks)
    for (const Kernel* k : t.kernels) {
      std::vector<const Kernel*>& of_op = all[std::string(k->op)];
      if (std::find(of_op.begin(), of_op.end(), k) == of_op.end()) of_op.push_back(k);
    }
  return all;
}

// A fault and its kernel, as tasks: the case that comes before the witness, if it needs one, and the witness.
struct Shown {
  Fault fault;
  std::vector<Task> tasks;
};

Shown shown(Fault fault, const Kernel& k) {
  const Op& op = op_named(k.op);
  Shown s{std::move(fault), {}};
  for (const std::string& text : {s.fault.after, s.fault.witness}) {
    if (text.empty()) continue;
    const Repro line = parse_repro(text, op_shapes());
    if (line.what.op != op.name || line.kernel != k.name)
      throw BadInput(fmt::format("the witness of {}/{} is of another kernel: {}", k.op, k.name, text));
    check(line.what, op.shape());
    s.tasks.push_back({&op, line.what, {&k}});
  }
  return s;
}

// The witnesses of these kernels.  Throws BadInput for a kernel without one, and for one without a kernel if all are asked for.
std::vector<Shown> read(const std::string& folder, const Kernels& kernels, bool all) {
  std::vector<Shown> found;
  for (const auto& [op, of_op] : kernels) {
    const std::string path = faults_path(folder, op);
    std::vector<Fault> faults = read_faults(path);
    for (const Kernel* k : of_op) {
      const auto at = std::find_if(faults.begin(), faults.end(), [&](const Fault& f) { return f.kernel == k->name; });
      if (at == faults.end())
        throw BadInput(fmt::format("{}/{} has no witness in '{}'  (validate selfcheck --write-witnesses)", op, k->name, path));
      found.push_back(shown(*at, *k));
      faults.erase(at);
    }
    if (all && !faults.empty()) throw BadInput(fmt::format("'{}' names a kernel that is not there: {}", path, faults[0].kernel));
  }
  return found;
}

std::vector<Task> tasks_of(const std::vector<Shown>& all) {
  std::vector<Task> tasks;
  for (const Shown& s : all) tasks.insert(tasks.end(), s.tasks.begin(), s.tasks.end());
  return tasks;
}

JudgeOptions options_of_replay(const RunFlags& flags, const std::string& backend) {
  JudgeOptions options = judge_options(flags, backend);
  options.relations = Relations::all;
  options.in_order = true;  // for what comes before a witness
  return options;
}

bool fails_by(const Record& r, Tier tier) {
  return is_bad(r.verdict) && std::find(r.caught_by.begin(), r.caught_by.end(), tier) != r.caught_by.end();
}

// The faults that were found, with what stands in the file: the lines of edits, edits without a witness, and kernels that were
// not judged.
std::vector<Fault> with_those_before(std::vector<Fault> found, const std::vector<Fault>& before, const std::string& op,
                                     const std::vector<const Kernel*>& judged) {
  for (const Fault& old : before) {
    const auto same = std::find_if(found.begin(), found.end(), [&](const Fault& f) { return f.kernel == old.kernel; });
    const auto is_it = [&](const Kernel* k) { return k->name == old.kernel; };
    const bool exists = std::any_of(kernels().begin(), kernels().end(), [&](const Kernel& k) { return k.op == op && is_it(&k); });
    if (same != found.end()) same->edit = old.edit;
    else if (!old.edit.empty() || (exists && std::none_of(judged.begin(), judged.end(), is_it))) found.push_back(old);
  }
  return found;
}

std::string key_of(const Record& r) { return r.c.op + "/" + r.kernel; }
std::string key_of(const Kernel& k) { return fmt::format("{}/{}", k.op, k.name); }

// What a record says of a case that should have failed by a tier.
std::string otherwise(const Record& r, Tier tier) {
  if (!is_bad(r.verdict)) return fmt::format("is {}", name(r.verdict));
  std::string tiers;
  for (const Tier t : r.caught_by) tiers += fmt::format("{}{}", tiers.empty() ? "" : ", ", name(t));
  return fmt::format("is {} by {}, not by {}", name(r.verdict), tiers.empty() ? "no tier" : tiers, name(tier));
}

}  // namespace

int witnesses_command(const SelfcheckFlags& flags, const std::string& backend) {
  const Selection& s = flags.run.selection;
  const Kernels kernels = kernels_of(tasks_of(s, true, true));
  if (kernels.empty()) throw BadInput(fmt::format("the set '{}' has no broken kernel of these", flags.run.set));
  const bool all = s.kernels.empty() && s.pattern.empty() && s.dtypes.empty();
  const std::vector<Shown> witnesses = read(flags.witnesses, kernels, all);
  std::map<std::string, Tier> tiers;  // by witness
  for (const Shown& w : witnesses) tiers[w.fault.witness] = w.fault.tier;
  std::size_t found = 0;
  std::vector<std::string> lost;
  RunHead head = head_of(backend, s);
  head.suite = "witnesses";
  const Tally tally = run_tasks(tasks_of(witnesses), flags.run, options_of_replay(flags.run, backend), head,
                                Console::Show::progress, [&](Record& r) {
                                  const auto witness = tiers.find(r.repro);
                                  if (witness == tiers.end()) return;  // it comes before one
                                  if (fails_by(r, witness->second)) ++found;
                                  else lost.push_back(fmt::format("{} {}", r.repro, otherwise(r, witness->second)));
                                });
  for (const std::string& line : lost) fmt::print("NOT FOUND  {}\n", line);
  fmt::print("{} of {} broken kernels fail their witness by its tier · {} · {:.1f} s\n", found, witnesses.size(), backend,
             tally.seconds);
  if (tally.interrupted) return kInterrupted;
  if (found == witnesses.size()) return kAllPassed;
  return tally.incomplete > 0 ? kIncomplete : kVerdictFailed;
}

int write_witnesses_command(const SelfcheckFlags& flags, const std::string& backend) {
  constexpr std::size_t kCandidates = 4, kEarlier = 400;  // of a kernel; a case may fail only after others
  std::vector<Task> tasks = tasks_of(flags.run.selection, true, true);
  const Kernels kernels = kernels_of(tasks);
  std::stable_sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) {
    return a.op == b.op ? elements(a.c, a.op->shape()) < elements(b.c, b.op->shape()) : a.op < b.op;
  });
  std::map<std::string, std::vector<Fault>> candidates;
  std::map<std::string, std::vector<std::string>> passed;  // the cases that a kernel passed before
  JudgeOptions options = judge_options(flags.run, backend);
  options.enough = [&](const Kernel& k) { return candidates[key_of(k)].size() >= kCandidates; };
  const Tally tally = run_tasks(std::move(tasks), flags.run, options, head_of(backend, flags.run.selection),
                                Console::Show::progress, [&](Record& r) {
                                  if (is_bad(r.verdict) && !r.caught_by.empty())
                                    candidates[key_of(r)].push_back({r.kernel, "", r.repro, r.caught_by.front()});
                                  else if (r.verdict == Verdict::passed) passed[key_of(r)].push_back(r.repro);
                                });
  if (tally.interrupted) return kInterrupted;

  // Each candidate is judged alone, until one fails as it did in the suite; if none does, each after one of the cases before it.
  const auto fails = [&](const Fault& f, const Kernel& k) {
    bool found = false;
    const std::vector<Task> line = shown(f, k).tasks;
    judge(line, options_of_replay(flags.run, backend),
          [&](const Record& r) { found = r.repro == f.witness && fails_by(r, f.tier); });
    return found;
  };
  const auto witness_of = [&](const Kernel& k) -> std::optional<Fault> {
    const std::string key = key_of(k);
    for (const Fault& f : candidates[key])
      if (fails(f, k)) return f;
    for (Fault f : candidates[key])
      for (std::size_t i = 0; i < std::min(kEarlier, passed[key].size()); ++i) {
        f.after = passed[key][passed[key].size() - 1 - i];
        if (fails(f, k)) return f;
      }
    return std::nullopt;
  };
  std::map<std::string, std::vector<Fault>> found;  // by op
  std::size_t missing = 0;
  for (const auto& [op, of_op] : kernels)
    for (const Kernel* k : of_op) {
      if (stop_requested) return kInterrupted;
      if (const std::optional<Fault> f = witness_of(*k)) {
        found[op].push_back(*f);
        continue;
      }
      ++missing;
      fmt::print("no witness: {}/{}, of {} cases that fail in the suite\n", op, k->name, candidates[key_of(*k)].size());
    }
  for (const auto& [op, faults] : found) {
    const std::string path = faults_path(flags.write_witnesses, op);
    write_whole(path, faults_text(with_those_before(faults, read_edits(path), op, kernels.at(op))));
  }
  fmt::print("{} ops written, {} broken kernels without a witness\n", found.size(), missing);
  return missing ? kVerdictFailed : kAllPassed;
}

}  // namespace assay
