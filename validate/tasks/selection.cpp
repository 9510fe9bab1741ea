// SPDX-License-Identifier: Apache-2.0
#include "validate/tasks/selection.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "validate/base/error.hpp"
#include "validate/problem/image.hpp"
#include "validate/values/layout.hpp"

namespace assay {

namespace fs = std::filesystem;

const Op& op_named(std::string_view name) {
  if (const Op* op = find_op(name)) return *op;
  if (is_left_out(name)) throw BadInput(fmt::format("this program was built without the op '{}'  (ASSAY_ONLY)", name));
  Names names;
  for (const Op& op : ops()) names.push_back(op.name);
  throw BadInput(unknown("op", name, names) + "  (validate list ops)");
}

std::vector<OpShape> op_shapes() {
  std::vector<OpShape> shapes;
  for (const Op& op : ops()) shapes.push_back(op.shape());
  return shapes;
}

Datasets datasets_of(const Selection& selection) { return load_datasets(datasets_folder(selection)); }

fs::path datasets_folder(const Selection& selection) {
  if (!selection.datasets.empty()) return selection.datasets;
  std::vector<fs::path> places;
  if (const char* named = std::getenv("ASSAY_DATASETS")) places.emplace_back(named);
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* from : {"../../datasets", "../share/assay/datasets", "../datasets"}) places.push_back(program / from);
  places.emplace_back("datasets");
  for (const fs::path& place : places)
    if (has_datasets(place)) return fs::weakly_canonical(place);
  throw BadInput("no datasets found beside the program or here; name their folder with --datasets or ASSAY_DATASETS");
}

namespace {

// Parses "i/n", with i from 1; an empty text means 1/1.
std::pair<std::int64_t, std::int64_t> parse_shard(const std::string& text) {
  if (text.empty()) return {1, 1};
  std::int64_t i = 0, n = 0;
  const char *begin = text.data(), *end = begin + text.size();
  const auto a = std::from_chars(begin, end, i);
  if (a.ec == std::errc() && a.ptr != end && *a.ptr == '/') {
    const auto b = std::from_chars(a.ptr + 1, end, n);
    if (b.ec == std::errc() && b.ptr == end && i >= 1 && i <= n) return {i, n};
  }
  throw BadInput(fmt::format("--shard is i/n with 1 <= i <= n, not '{}'", text));
}

}  // namespace

bool means(std::string_view word, const Kernel& k) {
  const std::size_t slash = word.find('/');
  return slash == word.npos ? word == k.name : word.substr(0, slash) == k.op && word.substr(slash + 1) == k.name;
}

bool asked(const Selection& s, const Kernel& k, DType t) {
  const auto named = [&](const std::string& word) { return means(word, k); };
  if (!s.kernels.empty() && std::none_of(s.kernels.begin(), s.kernels.end(), named)) return false;
  if (s.no_vendor && is_vendor(k)) return false;
  if (s.pattern.empty()) return true;
  const bool glob = s.pattern.find_first_of("*?[") != s.pattern.npos;
  const std::string pattern = glob ? s.pattern : "*" + s.pattern + "*", kernel = fmt::format("{}/{}", k.op, k.name);
  return ::fnmatch(pattern.c_str(), kernel.c_str(), 0) == 0 ||
         ::fnmatch(pattern.c_str(), fmt::format("{} {}", kernel, name(t)).c_str(), 0) == 0;
}

void require_kernels(const Selection& s, const std::vector<const Op*>& ops, bool broken) {
  std::vector<const Kernel*> there;
  for (const Op* op : ops)
    for (const Kernel& k : kernels())
      if (k.op == op->name && k.broken == broken) there.push_back(&k);
  for (const std::string& word : s.kernels) {
    if (std::any_of(there.begin(), there.end(), [&](const Kernel* k) { return means(word, *k); })) continue;
    std::set<std::string> names;
    for (const Kernel* k : there)
      names.insert(word.find('/') == word.npos ? std::string(k->name) : fmt::format("{}/{}", k->op, k->name));
    throw BadInput(unknown("kernel", word, Names(names.begin(), names.end())) + "  (validate list kernels)");
  }
  const auto on_any = [&](const Kernel* k) {
    return std::any_of(kActivationDTypes.begin(), kActivationDTypes.end(), [&](DType t) { return asked(s, *k, t); });
  };
  if (!s.pattern.empty() && std::none_of(there.begin(), there.end(), on_any))
    throw BadInput(
        fmt::format("-k '{}' matches no kernel, as in 'softmax/*' or '*/naive f16'  (validate list kernels)", s.pattern));
}

namespace {

// Whether a drawn or common case has extents and attributes for which the op is not defined.  One of an op's own dataset is a
// mistake, which is told when it is prepared.
bool is_undefined(const Op& op, const Case& c) {
  if (from_dataset(c) && c.source != kCommonSource) return false;
  const std::vector<Placement> placements = place(op, c);
  const std::unique_ptr<Problem> problem = op.make();
  attach(*problem, c, placements, std::vector<std::byte*>(placements.size(), nullptr));
  return !problem->legal();
}

}  // namespace

std::vector<Task> tasks_of(const Selection& selection, bool reduce, bool broken, bool without_kernels) {
  std::vector<const Op*> chosen;
  for (const std::string& name : selection.ops)
    if (const Op* op = &op_named(name); std::find(chosen.begin(), chosen.end(), op) == chosen.end()) chosen.push_back(op);
  if (chosen.empty())
    for (const Op& op : ops()) chosen.push_back(&op);

  SuiteOptions options{.seed = selection.seed, .count = selection.count, .reduce = reduce};
  for (const std::string& text : selection.dtypes) {
    const auto dtype = parse_dtype(text);
    if (!dtype || !(*dtype == f16 || *dtype == bf16 || *dtype == f32)) throw BadInput(unknown_dtype(text));
    options.dtypes.push_back(*dtype);
  }

  require_kernels(selection, chosen, broken);

  const Datasets datasets = datasets_of(selection);
  const std::vector<OpShape> shapes = op_shapes();
  check(datasets, shapes, is_left_out);
  const auto [part, parts] = parse_shard(selection.shard);
  std::vector<Task> tasks;
  std::int64_t number = 0;
  for (const Op* op : chosen) {
    std::vector<const Kernel*> candidates;
    for (const Kernel& k : kernels())
      if (k.op == op->name && k.broken == broken) candidates.push_back(&k);
    const auto wanted = [&](const Kernel* k, DType t) { return asked(selection, *k, t); };
    const auto on_any = [&](const Kernel* k) {
      return std::any_of(kActivationDTypes.begin(), kActivationDTypes.end(), [&](DType t) { return wanted(k, t); });
    };
    const bool lists_all = candidates.empty() && without_kernels;
    if (!lists_all && std::none_of(candidates.begin(), candidates.end(), on_any)) continue;
    // Where each tensor has a dtype of its own, the case's changes nothing.
    const bool has_free_dtype = std::ranges::any_of(op->tensors, [](const TensorSpec& t) { return !t.options.dtype; });
    for (Case& c : cases(datasets, op->shape(), selection.suite, options)) {
      if (!has_free_dtype && c.dtype != f32) continue;
      if (is_undefined(*op, c)) continue;
      if (number++ % parts != part - 1) continue;
      std::vector<const Kernel*> judged = candidates;
      std::erase_if(judged, [&](const Kernel* k) { return !wanted(k, c.dtype); });
      if (reduce && c.blocks_along)
        std::erase_if(judged, [&](const Kernel* k) { return tile_along(*k, *c.blocks_along, c.dtype) > 1; });
      if (lists_all || !judged.empty()) tasks.push_back({op, std::move(c), std::move(judged)});
    }
  }
  return tasks;
}

std::string summary_of(const Case& c) { return summary(c, op_named(c.op).shape()); }

}  // namespace assay
