// SPDX-License-Identifier: Apache-2.0
#include "validate/model/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/cases/bench_file.hpp"

namespace assay {

namespace {

std::vector<const Kernel*> ladder_of(std::string_view op, const std::filesystem::path& datasets) {
  const std::string path = (datasets / "bench" / fmt::format("{}.json", op)).string();
  std::string why;
  const std::optional<std::string> text = read_file(path, why);
  if (!text) throw BadInput(fmt::format("'{}' cannot be read: {}", path, why));
  const BenchFile file = parse_bench(*text, path);
  check(file, op, kernel_names(op), path);
  std::vector<const Kernel*> best_first;
  for (const std::string& name : file.ladder) best_first.insert(best_first.begin(), find_kernel(op, name));
  return best_first;
}

}  // namespace

bool KernelChoice::Named::means(const Step& step) const {
  if (layer >= 0 && layer != step.layer) return false;
  return op.empty() ? find_kernel(step.op, kernel) != nullptr : op == step.op;
}

KernelChoice::KernelChoice(const std::vector<std::string>& words, const std::filesystem::path& datasets,
                           const std::vector<Step>& steps, const Backend& backend, DType dtype)
    : backend_(backend), dtype_(dtype) {
  Names ops;
  for (const Step& s : steps)
    if (std::find(ops.begin(), ops.end(), s.op) == ops.end()) ops.push_back(s.op);
  for (const std::string_view op : ops) preferred_.emplace(op, ladder_of(op, datasets));

  for (const std::string& word : words) {
    Named n;
    std::string text = word;
    if (const auto at = text.find('@'); at != text.npos) {
      const char* const end = text.data() + text.size();
      if (const auto [p, e] = std::from_chars(text.data() + at + 1, end, n.layer); e != std::errc() || p != end || n.layer < 0)
        throw BadInput(fmt::format("--kernel {}: behind the @ the number of a layer was expected", word));
      text.resize(at);
    }
    if (const auto slash = text.find('/'); slash != text.npos) {
      n.op = text.substr(0, slash);
      n.kernel = text.substr(slash + 1);
      if (std::find(ops.begin(), ops.end(), n.op) == ops.end())
        throw BadInput(fmt::format("--kernel {}: {}", word, unknown("op of this model", n.op, ops)));
      if (!find_kernel(n.op, n.kernel))
        throw BadInput(fmt::format("--kernel {}: {}", word, unknown("kernel", n.kernel, kernel_names(n.op))));
    } else {
      n.kernel = text;
    }
    if (std::none_of(steps.begin(), steps.end(), [&](const Step& s) { return n.means(s); }))
      throw BadInput(fmt::format("--kernel {}: no step of this model has a kernel of that name{}", word,
                                 n.layer < 0 ? "" : " in that layer"));
    named_.push_back(std::move(n));
  }
}

std::string KernelChoice::refusal(const Kernel& k, const void* args) const {
  if (k.loaded && !is_built_for(backend_.name(), k)) return fmt::format("not built for backend {}", backend_.name());
  if (k.loaded) return k.dtypes.has(dtype_) ? "" : fmt::format("declares no {}", name(dtype_));  // its worker knows the rest
  if (!backend_.launcher(k)) return fmt::format("not built for backend {}", backend_.name());
  if (!k.dtypes.has(dtype_)) return fmt::format("declares no {}", name(dtype_));
  if (const std::string needed = needs_arch(k, backend_.arch()); !needed.empty())
    return fmt::format("needs {}, this is sm_{}", needed, backend_.arch());
  if (const Legality ok = k.available(); !ok) return ok.why;
  if (const Legality ok = k.supports(args); !ok) return ok.why;
  return {};
}

const KernelChoice::Named* KernelChoice::named(const Step& step) const {
  const auto n = std::find_if(named_.rbegin(), named_.rend(), [&](const Named& word) { return word.means(step); });
  return n == named_.rend() ? nullptr : &*n;
}

std::vector<const Kernel*> KernelChoice::candidates(const Step& step, Problem& problem) const {
  const void* const args = problem.args();
  std::vector<const Kernel*> all{&kernel(step, args)};
  if (named(step)) return all;
  std::size_t bytes = 0;
  for (const Tensor* t : problem.tensors())
    if (t->data) bytes += static_cast<std::size_t>(t->bytes());
  for (const Kernel& k : kernels())
    if (k.op == step.op && &k != all[0] && k.name != "naive" && !k.loaded && !k.broken && !k.variant && !is_vendor(k) &&
        refusal(k, args).empty() && k.workspace_bytes(args) <= bytes)
      all.push_back(&k);
  return all;
}

const Kernel& KernelChoice::kernel(const Step& step, const void* args) const {
  if (const Named* const n = named(step)) {
    const Kernel& k = *find_kernel(step.op, n->kernel);
    if (const std::string why = refusal(k, args); !why.empty())
      throw BadInput(fmt::format("{}/{} cannot compute '{}' of layer {}: {}", k.op, k.name, step.name, step.layer, why));
    return k;
  }
  for (const Kernel* k : preferred_.find(step.op)->second)
    if (refusal(*k, args).empty()) return *k;
  throw BadInput(fmt::format("no kernel of {} computes '{}' of layer {} in {} on {}", step.op, step.name, step.layer,
                             name(dtype_), backend_.name()));
}

}  // namespace assay
