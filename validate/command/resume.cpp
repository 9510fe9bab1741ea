// SPDX-License-Identifier: Apache-2.0
#include "validate/command/resume.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "validate/base/error.hpp"
#include "validate/base/version.hpp"
#include "validate/records/text_file.hpp"
#include "validate/tasks/loaded.hpp"
#include "validate/values/random.hpp"

namespace assay {

namespace {

using Json = RecordJson;

std::string selection_text(const RunFlags& flags) {
  const Selection& s = flags.selection;
  std::string text;
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) text += (text.empty() ? "" : " ") + flag_text(flag, value);
  };
  const auto flag = [&](const char* name, bool given) { text += given ? fmt::format(" {}", name) : ""; };
  add("--inputs", flags.inputs);
  for (const std::string& a : flags.given.attributes) add("--attribute", a);
  if (flags.last_failed.empty() && flags.inputs.empty()) {
    add("--suite", s.suite);
    add("--seed", fmt::format("{}", s.seed));
    if (s.suite == "random" || s.suite == "full") add("--count", fmt::format("{}", s.count));
  }
  add("--last-failed", flags.last_failed);
  add("--op", fmt::format("{}", fmt::join(s.ops, ",")));
  add("--kernel", fmt::format("{}", fmt::join(s.kernels, ",")));
  add("--dtype", fmt::format("{}", fmt::join(s.dtypes, ",")));
  add("-k", s.pattern);
  add("--worker", flags.worker);
  add("--set", flags.set);
  add("--plugin", flags.plugin);
  add("--ptx", flags.ptx);
  add("--cu", flags.cu);
  add("--launch", flags.launch);
  flag("--no-vendor", s.no_vendor);
  flag("--reduced", flags.reduced);
  flag("--all-relations", flags.all_relations);
  flag("--watch", flags.watch);
  flag("--sectors", flags.sectors);
  return text;
}

std::string text_in_head(const Json& head, const char* key) {
  const auto at = head.find(key);
  return at == head.end() ? "" : at->is_string() ? at->get<std::string>() : at->dump();
}

// Throws BadInput if the head of the file is not of this run.
void require_same(const Json& there, const Json& here) {
  if (!there.contains("kernels")) throw BadInput("only a record of run can be resumed, and none of an older version");
  if (const auto merged = there.find("merged"); merged != there.end())
    throw BadInput(fmt::format("it was merged from {} files, so these are to be resumed", merged->dump()));
  const auto refuse = [&](const char* what, const char* key) {
    const std::string was = text_in_head(there, key), is = text_in_head(here, key);
    if (was != is) throw BadInput(fmt::format("it was begun with {} '{}', and this run has '{}'", what, was, is));
  };
  refuse("schema", "schema");
  refuse("the selection", "selection");
  refuse("the shard", "shard");
  refuse("the backend", "backend");
  refuse("the device", "device");
  refuse("the sandbox", "sandbox");
  for (const auto& [kernel, hash] : here["kernels"].items())
    if (const auto was = there["kernels"].find(kernel); was != there["kernels"].end() && *was != hash)
      throw BadInput(fmt::format("the code of {} has changed since, so that --json must judge all anew", kernel));
  for (const auto& [op, version] : here["judges"].items())
    if (const auto was = there["judges"].find(op); was != there["judges"].end() && *was != version)
      throw BadInput(fmt::format("the judge of {} has changed since, so that --json must judge all anew", op));
  refuse("version", "version");
  refuse("commit", "commit");
  refuse("the compiler", "compiler");
  refuse("the build", "build");
  if (there["plan"] != here["plan"] || there["cases"] != here["cases"])
    throw BadInput("it was begun with other cases: the datasets or the kernels have changed");
}

// A kernel on the case of a task.
struct AtTask {
  std::size_t task;
  const Kernel* kernel;
};

// The places that wait for a record, by repro line.
class Waiting {
 public:
  explicit Waiting(const std::vector<Task>& tasks) {
    for (std::size_t t = 0; t < tasks.size(); ++t)
      for (const Kernel* k : tasks[t].kernels) at_.emplace(repro(tasks[t].c, tasks[t].op->shape(), k->name), AtTask{t, k});
  }
  // The place of a line, which then waits no longer; nothing if no place waits for the line.
  std::optional<AtTask> take(const std::string& line) {
    const auto found = at_.find(line);
    if (found == at_.end()) return {};
    const AtTask there = found->second;
    at_.erase(found);
    return there;
  }
  // Whether an earlier case of the kernel and dtype waits.
  bool waits_before(const AtTask& there, const std::vector<Task>& tasks) const {
    return std::ranges::any_of(at_, [&](const auto& line) {
      const AtTask& p = line.second;
      return p.kernel == there.kernel && p.task < there.task && tasks[p.task].c.dtype == tasks[there.task].c.dtype;
    });
  }

 private:
  std::multimap<std::string, AtTask> at_;
};

struct Kept {
  AtTask place;
  std::string line;
  Record record;
};

}  // namespace

RunHead::Plan plan_of(const std::vector<Task>& tasks, const RunFlags& flags) {
  RunHead::Plan plan{.selection = selection_text(flags), .shard = flags.selection.shard, .kernels = {}};
  for (const Task& t : tasks)
    for (const Kernel* k : t.kernels) {
      const std::string line = repro(t.c, t.op->shape(), k->name);
      ++plan.cases;
      plan.digest += random::mix(random::hash(line));
      plan.kernels.try_emplace(fmt::format("{}/{}", k->op, k->name),
                               k->loaded ? k->code : std::string(code_hash(k->op, k->name)));
    }
  return plan;
}

Begun resume(const std::string& path, std::vector<Task>& tasks, const RunHead& head) {
  const std::string begin = to_json(head);
  if (path == kStdout || path.ends_with(".gz"))
    throw BadInput(fmt::format("--resume adds to a plain file of records, which '{}' is not", path));
  std::string text;
  if (::access(path.c_str(), F_OK) == 0) text = read_text_file(path);
  Begun begun{std::make_unique<JsonLines>(path), {}};
  if (!text.empty()) text = read_text_file(path);  // again, now that nobody else writes it
  text.resize(text.rfind('\n') + 1);               // a line that was cut off by a kill
  if (text.empty()) {
    begun.file->write(begin);
    return begun;
  }
  std::vector<std::string> lines;
  std::vector<Kept> kept;
  Waiting waiting(tasks);
  each_record(text, path, [&](const std::string& line, const Json& j) {
    const std::string kind = text_in(j, "record");
    if (lines.empty() != (kind == "run")) throw BadInput("a file of records begins with one run");
    if (kind == "run") require_same(j, Json::parse(begin));
    if (kind == "run") lines.push_back(line);
    if (kind != "case" || j.value("incomplete", false)) return;
    const std::optional<AtTask> place = waiting.take(text_in(j, "repro"));
    if (!place) throw BadInput("this run has no such case, or has it already");
    kept.push_back({*place, line, record_of(j, tasks[place->task].c)});
  });
  // Note: a case tries the faults that no earlier one has shown to be rejected.  So one that tried some before an earlier case
  // was judged is judged again, or the record would not be that of an unbroken run.
  std::erase_if(kept, [&](const Kept& k) { return !k.record.faults.empty() && waiting.waits_before(k.place, tasks); });
  for (Kept& k : kept) {
    std::erase(tasks[k.place.task].kernels, k.place.kernel);
    lines.push_back(std::move(k.line));
    begun.records.push_back(std::move(k.record));
  }
  std::erase_if(tasks, [](const Task& t) { return t.kernels.empty(); });
  begun.file->replace(lines);
  return begun;
}

}  // namespace assay
