// SPDX-License-Identifier: Apache-2.0
#include "validate/command/resume.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

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
  for (const std::string& a : flags.attributes) add("--attribute", a);
  if (flags.last_failed.empty() && flags.inputs.empty()) {
    add("--suite", s.suite), add("--seed", fmt::format("{}", s.seed));
    if (s.suite == "random" || s.suite == "full") add("--count", fmt::format("{}", s.count));
  }
  add("--last-failed", flags.last_failed);
  add("--op", fmt::format("{}", fmt::join(s.ops, ",")));
  add("--kernel", fmt::format("{}", fmt::join(s.kernels, ",")));
  add("--dtype", fmt::format("{}", fmt::join(s.dtypes, ",")));
  add("-k", s.pattern);
  add("--worker", flags.worker), add("--plugin", flags.plugin);
  add("--ptx", flags.ptx), add("--launch", flags.launch);
  flag("--no-vendor", s.no_vendor), flag("--reduced", flags.reduced), flag("--all-relations", flags.all_relations);
  flag("--watch", flags.watch), flag("--sectors", flags.sectors);
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
  refuse("the selection", "selection"), refuse("the shard", "shard"), refuse("the backend", "backend");
  refuse("the device", "device");
  for (const auto& [kernel, hash] : here["kernels"].items())
    if (const auto was = there["kernels"].find(kernel); was != there["kernels"].end() && *was != hash)
      throw BadInput(fmt::format("the code of {} has changed since, so that --json must judge all anew", kernel));
  refuse("version", "version"), refuse("commit", "commit"), refuse("the compiler", "compiler"), refuse("the build", "build");
  if (there["plan"] != here["plan"] || there["cases"] != here["cases"])
    throw BadInput("it was begun with other cases: the datasets or the kernels have changed");
}

// The kernels of tasks that wait for a record, by repro line.
class Waiting {
 public:
  explicit Waiting(std::vector<Task>& tasks) : tasks_(tasks) {
    for (std::size_t t = 0; t < tasks.size(); ++t)
      for (const Kernel* k : tasks[t].kernels) at_.emplace(repro(tasks[t].c, tasks[t].op->shape(), k->name), std::pair(t, k));
  }
  // The case of a line, which then no longer waits for that kernel; null if nothing waits for the line.
  const Case* take(const std::string& line) {
    const auto found = at_.find(line);
    if (found == at_.end()) return nullptr;
    const auto [t, kernel] = found->second;
    at_.erase(found);
    std::erase(tasks_[t].kernels, kernel);
    return &tasks_[t].c;
  }

 private:
  std::vector<Task>& tasks_;
  std::multimap<std::string, std::pair<std::size_t, const Kernel*>> at_;
};

}  // namespace

RunHead::Plan plan_of(const std::vector<Task>& tasks, const RunFlags& flags) {
  RunHead::Plan plan{.selection = selection_text(flags), .shard = flags.selection.shard, .kernels = {}};
  for (const Task& t : tasks)
    for (const Kernel* k : t.kernels) {
      const std::string line = repro(t.c, t.op->shape(), k->name);
      ++plan.cases, plan.digest += random::mix(random::hash(line));
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
  Waiting waiting(tasks);
  each_record(text, path, [&](const std::string& line, const Json& j) {
    const std::string kind = text_in(j, "record");
    if (lines.empty() != (kind == "run")) throw BadInput("a file of records begins with one run");
    if (kind == "run") require_same(j, Json::parse(begin));
    if (kind == "run") lines.push_back(line);
    if (kind != "case" || j.value("incomplete", false)) return;
    const Case* c = waiting.take(text_in(j, "repro"));
    if (!c) throw BadInput("this run has no such case, or has it already");
    begun.records.push_back(record_of(j, *c));
    lines.push_back(line);
  });
  std::erase_if(tasks, [](const Task& t) { return t.kernels.empty(); });
  begun.file->replace(lines);
  return begun;
}

}  // namespace assay
