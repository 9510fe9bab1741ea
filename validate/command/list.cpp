// SPDX-License-Identifier: Apache-2.0
// list, describe and doctor.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

#include "cuda/core/vendor/library.hpp"
#include "validate/backends/backends.hpp"
#include "validate/base/error.hpp"
#include "validate/base/version.hpp"
#include "validate/command/commands.hpp"
#include "validate/values/common_fills.hpp"

namespace assay {

namespace {

// The first sentence of a head comment, on one line.
std::string idea(std::string_view about) {
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

std::string backends_of(const Kernel& k) { return fmt::format("{}{}", k.on_simt ? "simt " : "", k.on_gpu ? "cuda" : ""); }

std::string numerics_text(const Numerics& n) {
  return fmt::format("accumulates in {}, chains of ceil(n/{}){}{}", name(n.accumulate), n.chain.lanes,
                     n.chain.extra ? fmt::format(" + {}", n.chain.extra) : "",
                     n.stores_intermediate ? ", rounds an intermediate to the dtype" : "") +
         (n.mma_terms ? ", on tensor cores, which truncate" : "") +
         (n.narrow_probabilities ? ", rounds what a second product takes to the dtype" : "") +
         (n.cancelling_gelu ? ", GELU as 1 + tanh or 1 + erf" : "") +
         (n.function_error != Numerics{}.function_error ? fmt::format(", functions within {:g}·2^-24", n.function_error) : "") +
         (n.angle_error != 0 ? fmt::format(", angles within {:g}·2^-24 of themselves", n.angle_error) : "") +
         (n.turn_error != 0 ? fmt::format(", angles within {:g}·2^-24", n.turn_error) : "") +
         (n.rounds_weights ? ", rounds gamma times the weight to the dtype" : "") +
         (n.rounds_turned ? ", rounds turned q and k to the dtype" : "") + (n.of_output ? "; each step as its own kernel" : "");
}

// The choice that a tensor is there for, with its words where they are not all but the first.
std::string words_of(const Op& op, const TensorOptions& options) {
  std::string text(options.when);
  for (const Attribute& a : op.attributes)
    for (std::size_t k = 0; a.name == options.when && k < a.choices.size(); ++k)
      if (options.words >> k & 1) text += fmt::format("{}{}", text == options.when ? "=" : "|", a.choices[k]);
  return text;
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

}  // namespace

int list_command(const std::string& what, const Selection& selection) {
  if (what == "ops") {
    for (const Op& op : ops()) {
      int sound = 0, broken = 0;
      for (const Kernel& k : kernels())
        if (k.op == op.name) ++(k.broken ? broken : sound);
      fmt::print("{:<24} {:>2} kernels{}  {}\n", op.name, sound, broken ? fmt::format(", {} broken", broken) : "",
                 idea(op.about));
    }
  } else if (what == "kernels") {
    const auto among = [](const std::vector<std::string>& names, std::string_view name) {
      return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const std::string& op : selection.ops) op_named(op);
    for (const Kernel& k : kernels())
      if (among(selection.ops, k.op) && among(selection.kernels, k.name) && !(selection.no_vendor && is_vendor(k)))
        fmt::print("{:<24} {:<28} {:<13} {:<10} {}\n", k.op, k.broken ? "broken/" + std::string(k.name) : std::string(k.name),
                   dtypes_text(k.dtypes), backends_of(k), idea(k.about));
  } else if (what == "cases") {
    const std::vector<Task> tasks = tasks_of(selection, false);
    for (const Task& t : tasks) fmt::print("{}\n", repro(t.c, t.op->shape()));
    fmt::print("{} cases in suite {}\n", tasks.size(), selection.suite);
  } else {
    for (const BackendInfo& b : backends())
      fmt::print("{:<6} {}\n", b.name, b.unavailable.empty() ? b.device : "not usable here: " + b.unavailable);
  }
  return kAllPassed;
}

int describe_command(const std::string& name_of_op) {
  const Op& op = op_named(name_of_op);
  fmt::print("{}\n\n{}\n", op.name, op.about);
  fmt::print("axes\n");
  for (const AxisUse& use : op.axes)
    fmt::print("  {:<10} >= {}   {}\n", name(use.axis), use.least, kAxes[static_cast<std::size_t>(use.axis)].meaning);
  fmt::print("\ntensors (f16, bf16 or f32)\n");
  for (const TensorSpec& t : op.tensors) {
    std::string shape;
    for (Axis a : t.axes) shape += (shape.empty() ? "" : ", ") + std::string(name(a));
    if (t.options.one_more) shape += " + 1";
    fmt::print("  {:<10} [{}]{}{}{}\n", t.name, shape,
               t.options.updated        ? "   output, updated"
               : t.role == Role::output ? "   output"
               : t.role == Role::weight ? "   weight"
                                        : "",
               t.options.dtype ? fmt::format(", {}", name(*t.options.dtype)) : "",
               (t.options.index_of ? fmt::format(", places on {}", name(*t.options.index_of)) : "") +
                   (t.options.when.empty() ? "" : fmt::format(", only with {}", words_of(op, t.options))));
  }
  if (!op.attributes.empty()) fmt::print("\nattributes\n");
  for (const Attribute& a : op.attributes) {
    std::string words;
    for (const std::string_view w : a.choices) words += (words.empty() ? "" : " | ") + std::string(w);
    fmt::print("  {:<10} {} by default\n", a.name, words.empty() ? text_of(a, a.standard) : words + "; the first");
  }
  fmt::print("\nkernels\n");
  for (const Kernel& k : kernels()) {
    if (k.op != op.name) continue;
    fmt::print("  {:<28} {:<13} {}\n", k.broken ? "broken/" + std::string(k.name) : std::string(k.name), dtypes_text(k.dtypes),
               idea(k.about));
    if (!k.broken) fmt::print("  {:<28} {}\n", "", numerics_text(k.numerics));
  }
  fmt::print("\nfills\n");
  for (const Fill& f : op.hooks.fills) fmt::print("  {:<20} shows {}\n", f.name, f.shows);
  for (const Fill& f : common_fills()) fmt::print("  {:<20} shows {}\n", f.name, f.shows);
  return kAllPassed;
}

int doctor_command() {
  utsname system{};
  ::uname(&system);
  fmt::print("Assay {} · commit {} · built {}\n\n", version(), commit(), build_flags());
  fmt::print("  processor   {}, {} cores, {}\n", processor_name(), ::sysconf(_SC_NPROCESSORS_ONLN), system.machine);
  fmt::print("  system      {} {}\n", system.sysname, system.release);
  std::int64_t simt_kernels = 0, gpu_kernels = 0;
  for (const Kernel& k : kernels()) simt_kernels += k.on_simt != nullptr, gpu_kernels += k.on_gpu != nullptr;
  for (const BackendInfo& b : backends()) {
    if (!b.unavailable.empty()) {
      fmt::print("  {:<11} not usable: {}\n", b.name, b.unavailable);
      continue;
    }
    std::string state = "works";
    try {
      open_backend(b.name);
    } catch (const std::exception& e) {
      state = fmt::format("broken: {}", e.what());
    }
    fmt::print("  {:<11} {}, {} kernels: {}\n", b.name, b.device, b.name == "cuda" ? gpu_kernels : simt_kernels, state);
  }
  for (const vendor::Library* library : {&vendor::cublaslt_library(), &vendor::cudnn_library()})
    fmt::print("  {:<11} {}\n", library->name(),
               library->available() ? library->version() + ", " + library->path() : "missing: " + library->missing());
  try {
    const Datasets data = datasets_of({});
    check(data, op_shapes());
    fmt::print("  datasets    {} models, {} ops with edges of their own\n", data.models.size(), data.edges.size());
  } catch (const std::exception& e) {
    fmt::print("  datasets    missing or broken: {}\n", e.what());
  }
  return kAllPassed;
}

}  // namespace assay
