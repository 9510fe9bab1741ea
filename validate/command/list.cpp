// SPDX-License-Identifier: Apache-2.0
// list: prints ops, kernels, cases, a suite's coverage or backends, as a table or as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "validate/backends/backends.hpp"
#include "validate/base/error.hpp"
#include "validate/cases/coverage.hpp"
#include "validate/command/commands.hpp"
#include "validate/command/list.hpp"
#include "validate/console/table.hpp"
#include "validate/tasks/loaded.hpp"

namespace assay {

std::string idea_of(std::string_view about) {
  std::string text;
  for (char c : about) {
    text += c == '\n' ? ' ' : c;
    if (text.size() > 1 && text.back() == ' ' && (text[text.size() - 2] == '.' || text[text.size() - 2] == ':')) break;
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == ':')) text.pop_back();
  return text;
}

std::string dtypes_text(const DTypes& set) {
  std::string text;
  for (DType t : kActivationDTypes)
    if (set.has(t)) text += (text.empty() ? "" : " ") + std::string(name(t));
  return text;
}

void show_set(const std::string& set) {
  if (!set.empty()) load_set(set, "simt");
}

std::string shown_name(const Kernel& k) { return (k.broken ? "broken/" : "") + std::string(k.name); }

namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string backends_of(const Kernel& k) {
  return fmt::format("{}{}", is_built_for("simt", k) ? "simt " : "", is_built_for("cuda", k) ? "cuda" : "");
}

int list_ops(bool json) {
  // Only where there are broken kernels (--set trial) they have a column.
  const bool trial = std::any_of(kernels().begin(), kernels().end(), [](const Kernel& k) { return k.broken; });
  Json result, all = Json::array();
  std::vector<TableRow> rows;
  for (const Op& op : ops()) {
    int sound = 0, broken = 0;
    for (const Kernel& k : kernels())
      if (k.op == op.name) ++(k.broken ? broken : sound);
    rows.push_back({std::string(op.name), fmt::format("{}", sound), idea_of(op.about)});
    if (trial) rows.back().insert(rows.back().begin() + 2, fmt::format("{}", broken));
    all.push_back({{"op", op.name}, {"kernels", sound}, {"broken", broken}, {"idea", idea_of(op.about)}});
  }
  result["ops"] = std::move(all);
  if (json) print_json(result);
  else if (trial) print_table({"op", "kernels", "broken", "idea"}, rows, "lrrl");
  else print_table({"op", "kernels", "idea"}, rows, "lrl");
  return kAllPassed;
}

int list_kernels(const Selection& s, bool json) {
  for (const std::string& op : s.ops) op_named(op);
  for (const std::string& dtype : s.dtypes)
    if (!parse_dtype(dtype)) throw BadInput(unknown_dtype(dtype));
  const auto has = [](const std::vector<std::string>& names, std::string_view name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  Json result, all = Json::array();
  std::vector<TableRow> rows;
  for (const Kernel& k : kernels()) {
    const auto on = [&](DType t) { return k.dtypes.has(t) && has(s.dtypes, name(t)) && asked(s, k, t); };
    if (!has(s.ops, k.op) || std::none_of(kActivationDTypes.begin(), kActivationDTypes.end(), on)) continue;
    const std::string dtypes = dtypes_text(k.dtypes);
    rows.push_back({std::string(k.op), shown_name(k), dtypes, backends_of(k), idea_of(k.about)});
    all.push_back({{"op", k.op},
                   {"kernel", k.name},
                   {"broken", k.broken},
                   {"vendor", is_vendor(k)},
                   {"dtypes", words_of(dtypes)},
                   {"backends", words_of(backends_of(k))},
                   {"idea", idea_of(k.about)}});
  }
  if (rows.empty()) throw BadInput("these flags select no kernel  (validate list kernels)");
  result["kernels"] = std::move(all);
  if (json) print_json(result);
  else print_table({"op", "kernel", "dtypes", "backends", "idea"}, rows, "lllll");
  return kAllPassed;
}

int list_cases(const Selection& s, bool json) {
  const std::vector<Task> tasks = tasks_of(s, false, false, true);
  Json result, all = Json::array();
  for (const Task& t : tasks) {
    const std::string line = repro(t.c, t.op->shape());
    if (!json) fmt::print("{}\n", replay_text(line));
    else all.push_back({{"op", t.op->name}, {"dtype", name(t.c.dtype)}, {"repro", line}, {"source", t.c.source}});
  }
  result = {{"suite", s.suite}, {"seed", s.seed}, {"cases", std::move(all)}};
  if (json) print_json(result);
  else fmt::print("{} cases in suite {}\n", tasks.size(), s.suite);
  return kAllPassed;
}

// How many pairs and triples of settings a suite's cases have, of those that edges/common.json's extents can make.
int list_coverage(const Selection& s, bool json) {
  const Datasets datasets = datasets_of(s);
  Json result, all = Json::array();
  std::vector<TableRow> rows;
  for (const Op& op : ops()) {
    if (!s.ops.empty() && std::find(s.ops.begin(), s.ops.end(), op.name) == s.ops.end()) continue;
    const OpShape shape = op.shape();
    const std::vector<Case> list = cases(datasets, shape, s.suite, {.seed = s.seed, .count = s.count});
    const Coverage pairs = coverage(datasets, shape, list, 2), triples = coverage(datasets, shape, list, 3);
    const std::size_t parameters = assay::parameters(datasets, shape).size();
    const auto of = [](const Coverage& c) { return fmt::format("{} of {}", c.found, c.all); };
    rows.push_back({std::string(op.name), fmt::format("{}", list.size()), fmt::format("{}", parameters), of(pairs), of(triples)});
    const auto counts = [](const Coverage& c) { return Json{{"found", c.found}, {"all", c.all}}; };
    all.push_back({{"op", op.name},
                   {"cases", list.size()},
                   {"parameters", parameters},
                   {"pairs", counts(pairs)},
                   {"triples", counts(triples)}});
  }
  result = {{"suite", s.suite}, {"coverage", std::move(all)}};
  if (json) print_json(result);
  else print_table({"op", "cases", "parameters", "pairs", "triples"}, rows, "lrrrr");
  return kAllPassed;
}

int list_backends(bool json) {
  Json result, all = Json::array();
  std::vector<TableRow> rows;
  for (const BackendInfo& b : backends()) {
    rows.push_back({std::string(b.name), b.unavailable.empty() ? b.device : "not usable here: " + b.unavailable});
    all.push_back({{"backend", b.name}, {"usable", b.unavailable.empty()}, {"device", b.device}, {"why_not", b.unavailable}});
  }
  result["backends"] = std::move(all);
  if (json) print_json(result);
  else print_table({"backend", "device"}, rows, "ll");
  return kAllPassed;
}

}  // namespace

// Note: a driver's own text, like a device's name, need not be UTF-8, so bad bytes are replaced.
void print_json(const nlohmann::ordered_json& j) { fmt::print("{}\n", j.dump(2, ' ', false, Json::error_handler_t::replace)); }

int list_command(const std::string& what, const Selection& selection, const std::string& set, bool json) {
  show_set(set);
  if (what == "ops") return list_ops(json);
  if (what == "kernels") return list_kernels(selection, json);
  if (what == "coverage") {
    for (const std::string& op : selection.ops) op_named(op);
    return list_coverage(selection, json);
  }
  return what == "cases" ? list_cases(selection, json) : list_backends(json);
}

}  // namespace assay
