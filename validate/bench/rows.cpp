// SPDX-License-Identifier: Apache-2.0
// Turns bench's flags into rows, from the ops' own files, from a suite (--suite) or from shapes that were typed (--shape).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/base/memory.hpp"
#include "validate/bench/bench.hpp"
#include "validate/cases/bench_file.hpp"
#include "validate/problem/image.hpp"
#include "validate/tasks/memory.hpp"

namespace assay {

namespace {

namespace fs = std::filesystem;

// The text of a file; none if there is no such file.
std::optional<std::string> text_of(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  std::string why;
  if (auto text = read_file(file, why)) return text;
  throw BadInput(fmt::format("{}: cannot be read: {}", file.string(), why));
}

std::vector<SuiteTable> suite_named(const std::string& name, const fs::path& folder) {
  std::vector<std::string> there;
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, error))
    if (file.path().extension() == ".json") there.push_back(file.path().stem());
  std::sort(there.begin(), there.end());
  if (!has(there, name)) {
    std::string why = unknown("bench suite", name, Names(there.begin(), there.end()));
    if (why.ends_with('?')) why += fmt::format(" There are {}.", fmt::join(there, ", "));
    throw BadInput(why);
  }
  const fs::path file = folder / (name + ".json");
  return parse_bench_suite(text_of(file).value_or(""), file.string());
}

std::vector<const Op*> chosen_ops(const BenchFlags& flags) {
  std::vector<const Op*> chosen;
  for (const std::string& name : flags.selection.ops) chosen.push_back(&op_named(name));
  if (chosen.empty())
    for (const Op& op : ops()) chosen.push_back(&op);
  if (!flags.plugin.empty())
    std::erase_if(chosen, [](const Op* op) {
      return std::none_of(kernels().begin(), kernels().end(), [&](const Kernel& k) { return k.loaded && k.op == op->name; });
    });
  if (chosen.empty()) throw BadInput(fmt::format("--plugin {}: it has no kernel of the ops that are asked for", flags.plugin));
  require_kernels(flags.selection, chosen);
  if (flags.baseline == "unfused") return chosen;  // an op may lack one; its rows then have no such ratio
  Names names{"vendor", "none"};
  for (const Op* op : chosen)
    for (const Kernel& k : kernels())
      if (k.op == op->name && !k.broken && std::find(names.begin(), names.end(), k.name) == names.end()) names.push_back(k.name);
  if (std::find(names.begin(), names.end(), flags.baseline) == names.end())
    throw BadInput("--baseline: " + unknown("kernel", flags.baseline, names) + "  (validate list kernels)");
  return chosen;
}

class RowList {
 public:
  RowList(const BenchFlags& flags, bool on_gpu) : flags_(flags), on_gpu_(on_gpu), shapes_(op_shapes()) {}

  // Adds the typed shapes, or else those of the op's own file.
  void add(const Op& op) {
    const std::optional<BenchFile>& file = file_of(op);
    std::vector<BenchEntry> entries;
    for (const std::string& shape : flags_.shapes) entries.push_back({shape, {}, {}});
    if (entries.empty() && file) entries = file->entries;
    if (entries.empty() && !file && !flags_.selection.ops.empty())  // an op that was not named is left out in silence
      throw BadInput(fmt::format("no bench shapes for '{}' in {}; name one with --shape", op.name, path_of(op).string()));
    const bool typed = !flags_.shapes.empty();
    for (const BenchEntry& entry : entries) of_file(typed ? "" : path_of(op).string(), [&] { add(op, entry, std::nullopt); });
  }

  void add(const Op& op, const BenchEntry& entry, const std::optional<RowOfSuite>& place) {
    std::vector<std::string> dtypes = flags_.selection.dtypes;
    if (dtypes.empty()) dtypes = entry.dtypes;
    if (dtypes.empty())
      for (DType t : kActivationDTypes) dtypes.emplace_back(name(t));
    for (const std::string& dtype : dtypes) {
      if (!parse_dtype(dtype)) throw BadInput(unknown_dtype(dtype));  // Note: it becomes a word of a line
      if (!entry.dtypes.empty() && !has(entry.dtypes, dtype)) continue;
      BenchShape row{.op = &op, .c = {}, .kernels = entry.kernels, .ladder = {}, .place = place};
      if (const auto& file = file_of(op)) row.ladder = file->ladder;
      const std::string line = fmt::format("{} {} {} seed={}", op.name, dtype, entry.shape, flags_.selection.seed);
      row.c = parse_repro(line, shapes_).what;
      for (std::size_t i = 0; i < op.tensors.size(); ++i)
        if (lies_over(op, row.c, i))
          throw BadInput(fmt::format("{}: bench launches a kernel many times, so '{}' cannot overwrite '{}'", entry.shape,
                                     op.tensors[i].name, op.tensors[i].options.in_place_of));
      const Task task{&op, row.c, {}};
      const std::string why_not = on_gpu_ ? too_large(task, memory_of(task, {.backend = "cuda"}).peak(), available_memory()) : "";
      if (!why_not.empty()) throw BadInput(fmt::format("{}: {}", entry.shape, why_not));
      all.push_back(std::move(row));
    }
  }

  std::vector<BenchShape> all;

 private:
  fs::path path_of(const Op& op) const { return datasets_folder(flags_.selection) / "bench" / (std::string(op.name) + ".json"); }
  const std::optional<BenchFile>& file_of(const Op& op) {
    const auto [at, fresh] = files_.try_emplace(&op);
    if (const auto text = fresh ? text_of(path_of(op)) : std::nullopt) {
      at->second = parse_bench(*text, path_of(op).string());
      check(*at->second, op.name, kernel_names(op.name), path_of(op).string());
    }
    return at->second;
  }

  const BenchFlags& flags_;
  bool on_gpu_;
  std::vector<OpShape> shapes_;
  std::map<const Op*, std::optional<BenchFile>> files_;
};

// Whether the flags select a kernel of the op.
bool has_asked(const Op& op, const BenchFlags& flags) {
  return std::any_of(kernels().begin(), kernels().end(), [&](const Kernel& k) {
    const auto on = [&](DType t) { return asked(flags.selection, k, t); };
    return k.op == op.name && !k.broken && std::any_of(kActivationDTypes.begin(), kActivationDTypes.end(), on);
  });
}

void add_suite(RowList& rows, const std::vector<const Op*>& chosen, const BenchFlags& flags) {
  const fs::path folder = datasets_folder(flags.selection) / "bench/suites";
  const std::string path = (folder / (flags.suite + ".json")).string();
  for (const SuiteTable& table : suite_named(flags.suite, folder))
    for (const SuiteRow& row : table.rows) {
      const Op* op = nullptr;
      of_file(path, [&] { op = &op_named(row.op); });
      check({.op = row.op, .entries = {row.entry}, .ladder = {}}, op->name, kernel_names(op->name), path);
      if (std::find(chosen.begin(), chosen.end(), op) == chosen.end() || !has_asked(*op, flags)) continue;
      of_file(path, [&] { rows.add(*op, row.entry, RowOfSuite{flags.suite, table.title, row.label, row.reported}); });
    }
  if (rows.all.empty()) throw BadInput(fmt::format("--suite {}: no row of it has that op, dtype and kernel", flags.suite));
}

}  // namespace

std::vector<BenchShape> bench_rows(const BenchFlags& flags, bool on_gpu) {
  if (!flags.suite.empty() && !flags.shapes.empty()) throw BadInput("--suite and --shape exclude each other");
  const std::vector<const Op*> chosen = chosen_ops(flags);
  RowList rows(flags, on_gpu);
  if (!flags.suite.empty()) add_suite(rows, chosen, flags);
  else
    for (const Op* op : chosen)
      if (has_asked(*op, flags)) rows.add(*op);
  return std::move(rows.all);
}

}  // namespace assay
