// SPDX-License-Identifier: Apache-2.0
// replay: judges one case, or the bad cases of a record file, and prints everything about each.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/base/memory.hpp"
#include "validate/base/version.hpp"
#include "validate/command/commands.hpp"
#include "validate/console/console.hpp"
#include "validate/tasks/loaded.hpp"

namespace assay {

namespace {

Task task_of(const std::string& line) {
  const std::vector<OpShape> shapes = op_shapes();
  const Repro parsed = parse_repro(line, shapes);
  const Op& op = op_named(parsed.what.op);
  if (const std::string_view judge = judge_hash(op.name); !judge.starts_with(parsed.judge))
    fmt::print("note: judge {} printed this line, and this judge of {} is {}: the verdict may differ for that reason\n",
               parsed.judge, op.name, judge.substr(0, parsed.judge.size()));
  Task task{&op, parsed.what, {}};
  for (const Kernel& k : kernels())
    if (k.op == op.name && (parsed.kernel.empty() ? !k.broken : k.name == parsed.kernel)) task.kernels.push_back(&k);
  if (task.kernels.empty()) throw BadInput(unknown("kernel", parsed.kernel, kernel_names(op.name)) + "  (validate list kernels)");
  check(parsed.what, op.shape());
  return task;
}

}  // namespace

std::vector<Task> bad_tasks(const RecordFile& file, const Selection& selection) {
  for (const std::string& op : selection.ops) op_named(op);
  std::vector<Task> tasks;
  std::map<std::string, std::size_t> place;  // index in `tasks`, by the repro line without a kernel
  for (const JudgedCase& c : file.cases) {
    const auto named = [&](const std::vector<std::string>& words, const std::string& word) {
      return words.empty() || std::find(words.begin(), words.end(), word) != words.end();
    };
    if (!c.bad() || !named(selection.ops, c.op) || !named(selection.dtypes, c.dtype)) continue;
    Task task = task_of(c.repro);
    std::erase_if(task.kernels, [&](const Kernel* k) { return !asked(selection, *k, task.c.dtype); });
    if (task.kernels.empty()) continue;
    task.c.source = c.source;
    const auto [at, fresh] = place.try_emplace(repro(task.c, task.op->shape()), tasks.size());
    if (fresh) tasks.push_back(std::move(task));
    else tasks[at->second].kernels.push_back(task.kernels.front());
  }
  return tasks;
}

int replay_command(const std::vector<std::string>& lines, const RunFlags& flags) {
  std::string backend;
  int code = 0;
  if (!machine_ready(flags, backend, code)) return code;
  check_watch(flags, backend);
  std::vector<Task> tasks;
  bool incomplete = false;
  for (const std::string& line : lines) tasks.push_back(task_of(line));
  if (!flags.last_failed.empty()) {
    const RecordFile file = read_records(flags.last_failed);
    incomplete = say_incomplete({&file, 1});
    tasks = bad_tasks(file, flags.selection);
  }
  check_ptx_kernels(tasks);
  JudgeOptions options = judge_options(flags, backend);
  // Note: simt keeps every access of a block's threads until the last thread has made it, which takes much memory in a large
  // case.
  constexpr std::int64_t kMostForSectors = std::int64_t{1} << 21;
  options.sectors =
      std::all_of(tasks.begin(), tasks.end(), [](const Task& t) { return elements(t.c, t.op->shape()) <= kMostForSectors; });
  options.relations = Relations::all;
  options.in_order = true;  // a failure may need the calls before it
  const bool colour = colours(flags.colour, STDOUT_FILENO);
  std::vector<Record> failed;
  Tally tally = judge(tasks, options, [&](const Record& r) {
    fmt::print("{}\n", replay_text(r));
    print_judged(r, colour);
    fmt::print("  bytes          {:.0f} by formula (unfused {:.0f})\n", r.cost.bytes(), r.cost.unfused_bytes);
    const auto sectors = [&](std::uint64_t n) { return options.sectors ? fmt::format(", {} sectors", n) : ""; };
    for (const auto& [tensor, t] : r.traffic)
      fmt::print("    {:<12} read {} (unique {}{}) · written {} (unique {}{})\n", tensor, t.read_bytes, t.unique_read_bytes,
                 sectors(t.read_sectors), t.written_bytes, t.unique_written_bytes, sectors(t.written_sectors));
    print_sites(r.sites);
    if (r.memory > 0) fmt::print("  memory         {} of judge and worker, as estimated\n", size_text(r.memory));
    fmt::print("  time           {:.3f} s on {}\n\n", r.seconds, backend);
    std::fflush(stdout);
    if (flags.shrink_s > 0 && can_shrink(r)) failed.push_back(r);
  });
  for (const Record& r : failed) {
    if (stop_requested) break;
    const Shrunk s = shrink(r, {}, options, flags.shrink_s);
    if (!s.label.empty()) fmt::print("  label          {}\n", label_text(s));
    if (s.smallest)
      fmt::print("  smallest       {}\n                 {}   (shrunk from {}; {} cases tried)\n\n", replay_text(*s.smallest),
                 s.smallest->reason, difference(r.c, s.smallest->c, op_named(r.c.op).shape()), s.tried);
    else fmt::print("  smallest       this one; of {} smaller cases none fails as it does\n\n", s.tried);
  }
  fmt::print("{}{}\n", tally.sentence(), tasks.empty() ? fmt::format(" · no bad case in '{}'", plain(flags.last_failed)) : "");
  return exit_code(exit_code(tally, flags.partial), incomplete, flags.partial);
}

}  // namespace assay
