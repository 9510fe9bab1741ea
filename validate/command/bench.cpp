// SPDX-License-Identifier: Apache-2.0
// bench: times on a GPU, beside the measured copy rate and a baseline in the same process; bytes by formula and as simt
// counts them, on any machine.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "validate/command/commands.hpp"
#include "validate/compare.hpp"
#include "validate/error.hpp"
#include "validate/image.hpp"
#include "validate/memory.hpp"
#include "validate/sample.hpp"
#include "validate/worker.hpp"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;

double quantile(std::vector<double> v, double q) {
  std::sort(v.begin(), v.end());
  const double at = q * static_cast<double>(v.size() - 1);
  const std::size_t low = static_cast<std::size_t>(at), high = std::min(low + 1, v.size() - 1);
  return v[low] + (at - static_cast<double>(low)) * (v[high] - v[low]);
}

std::vector<std::string> shapes_of(const Op& op, const BenchFlags& flags) {
  if (!flags.shapes.empty()) return flags.shapes;
  namespace fs = std::filesystem;
  const fs::path file = datasets_folder(flags.run.selection) / "bench" / (std::string(op.name) + ".json");
  std::ifstream in(file);
  if (!in) throw BadInput(fmt::format("no bench shapes for '{}' in {}; name one with --shape", op.name, file.string()));
  try {
    return Json::parse(in).at("shapes").get<std::vector<std::string>>();
  } catch (const Json::exception& e) {
    throw BadInput(fmt::format("{}: {}", file.string(), e.what()));
  }
}

// The kernels that take a problem, the baseline among them.
std::vector<const Kernel*> candidates(const Op& op, const BenchFlags& flags, DType dtype) {
  std::vector<const Kernel*> chosen;
  for (const Kernel& k : kernels()) {
    const auto& names = flags.run.selection.kernels;
    const bool named = names.empty() || std::find(names.begin(), names.end(), k.name) != names.end();
    if (k.op == op.name && !k.broken && k.dtypes.has(dtype) && (named || k.name == flags.baseline)) chosen.push_back(&k);
  }
  return chosen;
}

// A problem in device memory, `sets` times over.
class DeviceProblem {
 public:
  DeviceProblem(Backend& backend, const Op& op, const Case& c) : backend_(backend), op_(op), packing_(pack(op, c)) {
    inputs_.resize(packing_.input_bytes);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < op.tensors.size(); ++i) {
      bytes += packing_.placements[i].bytes;
      if (op.tensors[i].role != Role::output)
        fill_image(op, c, static_cast<int>(i), packing_.placements[i], inputs_.data() + packing_.at[i], {});
    }
    // Rotated places: at least three times the largest L2 cache between two uses of one.
    const int sets = static_cast<int>(std::clamp<std::size_t>((std::size_t{192} << 20) / std::max<std::size_t>(bytes, 1), 2, 16));
    for (int s = 0; s < sets; ++s) {
      std::vector<std::byte*> pointers;
      for (std::size_t i = 0; i < op.tensors.size(); ++i) {
        const Placement& p = packing_.placements[i];
        memory_.push_back(backend.allocate(p.bytes, p.offset, op.tensors[i].name));
        pointers.push_back(static_cast<std::byte*>(memory_.back()));
        if (op.tensors[i].role != Role::output) backend.write(memory_.back(), inputs_.data() + packing_.at[i], p.bytes);
      }
      problems_.push_back(op.make());
      attach(*problems_.back(), c, packing_.placements, pointers);
    }
    // The golden's problem lies on the host.
    golden_ = op.make();
    std::vector<std::byte*> host;
    for (std::size_t i = 0; i < op.tensors.size(); ++i)
      host.push_back(op.tensors[i].role == Role::output ? nullptr : inputs_.data() + packing_.at[i]);
    attach(*golden_, c, packing_.placements, host);
    const Fill& fill = find_fill(op, c.fill);
    golden_->set_errors(fill.coherent ? Errors::coherent : Errors::independent);
    golden_->solve(sampled_rows(op, c, *golden_));
  }
  ~DeviceProblem() {
    for (void* p : memory_) backend_.release(p);
    if (workspace_) backend_.release(workspace_);
  }
  DeviceProblem(const DeviceProblem&) = delete;
  DeviceProblem& operator=(const DeviceProblem&) = delete;

  const Problem& problem() const { return *golden_; }
  TimedLaunch timed(const Kernel& k) {
    TimedLaunch t{.launcher = backend_.launcher(k), .args = {}};
    for (const auto& p : problems_) t.args.push_back(p->args());
    const std::size_t bytes = k.workspace_bytes(problems_[0]->args());
    if (bytes > workspace_bytes_) {
      if (workspace_) backend_.release(workspace_);
      workspace_ = backend_.allocate(bytes, 0, "workspace");
      workspace_bytes_ = bytes;
    }
    return t;
  }
  void* workspace() const { return workspace_; }

  // Runs the kernel once more into garbage and judges what it wrote.
  double margin(const Kernel& k) {
    const std::size_t first = op_.tensors.size() * (problems_.size() - 1);  // the place that was timed last
    double worst = 0;
    std::vector<std::vector<std::byte>> images(op_.tensors.size());
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      if (op_.tensors[i].role != Role::output) continue;
      images[i].assign(packing_.placements[i].bytes, kGarbage[0]);
      backend_.write(memory_[first + i], images[i].data(), images[i].size());
    }
    backend_.run(backend_.launcher(k), problems_.back()->args(), workspace_, {});
    int output = 0;
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      if (op_.tensors[i].role != Role::output) continue;
      backend_.read(images[i].data(), memory_[first + i], images[i].size());
      Tensor got = packing_.placements[i].tensor;
      got.data = images[i].data();
      worst = std::max(worst, compare(*golden_, k.numerics, output++, got, false).margin);
    }
    return worst;
  }

 private:
  Backend& backend_;
  const Op& op_;
  Packing packing_;
  std::vector<std::byte> inputs_;
  std::vector<void*> memory_;
  std::vector<std::unique_ptr<Problem>> problems_;
  std::unique_ptr<Problem> golden_;
  void* workspace_ = nullptr;
  std::size_t workspace_bytes_ = 0;
};

struct Out {
  std::unique_ptr<JsonLines> json;
  void write(const Json& j) const {
    if (json) json->write(j.dump());
  }
};

// Times the kernels of one shape and prints a row for each.
bool time_shape(Backend& backend, const Op& op, const Case& c, const BenchFlags& flags, double copy_rate, const Out& out) {
  DeviceProblem device(backend, op, c);
  std::vector<const Kernel*> chosen;
  for (const Kernel* k : candidates(op, flags, c.dtype))
    if (k->supports(device.problem().args()) && k->least_arch <= backend.arch() && backend.launcher(*k)) chosen.push_back(k);
  std::vector<TimedLaunch> launches;
  for (const Kernel* k : chosen) launches.push_back(device.timed(*k));
  for (TimedLaunch& l : launches) l.workspace = device.workspace();
  if (launches.empty()) return true;
  const auto times = backend.time_us(launches, flags.seconds);

  double baseline = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i]->name == flags.baseline) baseline = quantile(times[i], 0.5);
  bool sound = true;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Cost cost = device.problem().cost();
    const double median = quantile(times[i], 0.5), low = quantile(times[i], 0.05), high = quantile(times[i], 0.95);
    const double rate = cost.bytes() / (1e-6 * median), margin = device.margin(*chosen[i]);
    const bool right = margin <= 1;
    sound = sound && right;
    const std::string ratio = baseline > 0 ? fmt::format("{:.2f}x {}", baseline / median, flags.baseline) : "";
    fmt::print("  {:<20} {:<12} {:<5} {:<28} {:>9.2f} µs [{:.2f}, {:.2f}]  {:>7.1f} GB/s  {:>5.1f} % of copy  {}{}\n", op.name,
               chosen[i]->name, name(c.dtype), summary_of(c), median, low, high, 1e-9 * rate, 100 * rate / copy_rate, ratio,
               right ? "" : fmt::format("  WRONG: err/bound {:.3g}", margin));
    std::fflush(stdout);
    out.write({{"record", "bench"},
               {"op", op.name},
               {"kernel", chosen[i]->name},
               {"backend", "cuda"},
               {"dtype", name(c.dtype)},
               {"shape", summary_of(c)},
               {"time_us",
                {{"median", median},
                 {"p5", low},
                 {"p95", high},
                 {"min", quantile(times[i], 0)},
                 {"max", quantile(times[i], 1)},
                 {"samples", times[i].size()}}},
               {"l2", "flushed"},
               {"flops", cost.flops},
               {"bytes", {{"formula", cost.bytes()}, {"unfused_formula", cost.unfused_bytes}}},
               {"rate_bytes_per_s", rate},
               {"copy_rate_bytes_per_s", copy_rate},
               {"share_of_copy", rate / copy_rate},
               {"baseline", flags.baseline},
               {"speedup", baseline > 0 ? Json(baseline / median) : Json(nullptr)},
               {"margin_after_timing", std::isfinite(margin) ? Json(margin) : Json("inf")}});
  }
  return sound;
}

// What each kernel moves, as counted on simt at a reduced number of rows, beside the contract's formula.
bool count_shape(const Op& op, const Case& c, const BenchFlags& flags, const Out& out) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 20;
  Case small = c;
  const Axis longest = op.axes[0].axis;  // the axis that rows, tokens or batches run along
  const std::int64_t rest = std::max<std::int64_t>(1, elements(c, op.shape()) / std::max<std::int64_t>(1, c.dims[longest]));
  small.dims[longest] =
      std::min(c.dims[longest], std::max<std::int64_t>(129, std::min<std::int64_t>(1024, kMostElements / rest)));
  const std::vector<Task> tasks{{&op, small, candidates(op, flags, c.dtype)}};
  bool sound = true;
  judge(tasks, {.backend = "simt", .timeout_s = flags.run.timeout_s, .sectors = true, .stop = &stop_requested},
        [&](const Record& r) {
          if (r.verdict == Verdict::skipped) fmt::print("  {}: skipped: {}\n", r.repro, r.reason);
          if (r.verdict == Verdict::unsupported || r.verdict == Verdict::skipped) return;
          sound = sound && !is_bad(r.verdict);
          Traffic sum;
          for (const auto& [tensor, t] : r.traffic) {
            sum.read_bytes += t.read_bytes, sum.written_bytes += t.written_bytes;
            sum.unique_read_bytes += t.unique_read_bytes, sum.unique_written_bytes += t.unique_written_bytes;
            sum.read_sectors += t.read_sectors, sum.written_sectors += t.written_sectors;
          }
          const double requested = static_cast<double>(sum.read_bytes + sum.written_bytes);
          const double unique = static_cast<double>(sum.unique_read_bytes + sum.unique_written_bytes);
          const double sectors = 32 * static_cast<double>(sum.read_sectors + sum.written_sectors);
          fmt::print(
              "  {:<20} {:<12} {:<5} {:<28} formula {:>12.0f}  unique {:>12.0f} ({:.4f})  requested {:.3f}  sectors {:.3f}{}\n",
              op.name, r.kernel, name(c.dtype), summary_of(small), r.cost.bytes(), unique, unique / r.cost.bytes(),
              requested / r.cost.bytes(), sectors / r.cost.bytes(), is_bad(r.verdict) ? "  " + std::string(name(r.verdict)) : "");
          Json j = Json::parse(to_json(r));
          j["record"] = "traffic";
          out.write(j);
        });
  return sound;
}

}  // namespace

int bench_command(const BenchFlags& flags) {
  std::string backend_name;
  int code = 0;
  if (!backend_ready(flags.run, backend_name, code)) return code;
  if (!flags.run.junit.empty() || !flags.run.markdown.empty()) throw BadInput("bench writes --json and no --junit or --md");
  if (flags.times_only && backend_name != "cuda") throw BadInput("--times-only: there is nothing to time on simt");

  // Everything a person can get wrong, before anything is written.
  std::vector<const Op*> chosen;
  for (const std::string& name : flags.run.selection.ops) chosen.push_back(&op_named(name));
  if (chosen.empty())
    for (const Op& op : ops()) chosen.push_back(&op);
  std::vector<std::string> dtypes = flags.run.selection.dtypes;
  if (dtypes.empty())
    for (DType t : kActivationDTypes) dtypes.emplace_back(name(t));
  std::vector<std::pair<const Op*, Case>> cases;
  const std::vector<OpShape> shapes = op_shapes();
  for (const Op* op : chosen) {
    Names names;
    for (const Kernel& k : kernels())
      if (k.op == op->name && !k.broken) names.push_back(k.name);
    for (const std::string& kernel : flags.run.selection.kernels)
      if (std::find(names.begin(), names.end(), kernel) == names.end()) throw BadInput(unknown("kernel", kernel, names));
    for (const std::string& shape : shapes_of(*op, flags))
      for (const std::string& dtype : dtypes) {
        cases.emplace_back(
            op, parse_repro(fmt::format("{} {} {} seed={}", op->name, dtype, shape, flags.run.selection.seed), shapes).what);
        const std::string why_not = backend_name == "cuda" ? too_large(*op, cases.back().second, available_memory()) : "";
        if (!why_not.empty()) throw BadInput(fmt::format("{}: {}", shape, why_not));
      }
  }
  Out out;
  const RunHead head = head_of(flags.run, backend_name);
  if (!flags.run.json.empty()) {
    out.json = std::make_unique<JsonLines>(flags.run.json);
    out.json->write(to_json(head));
  }

  bool sound = true;
  fmt::print("Assay {} · commit {} · {}\n\n", head.version, head.commit, head.device);
  if (backend_name == "cuda") {
    const std::unique_ptr<Backend> backend = open_backend("cuda");
    const double copy_rate = backend->copy_rate();
    fmt::print("  device copy, read and written: {:.1f} GB/s; L2 flushed before each launch; median [5 %, 95 %]\n\n",
               1e-9 * copy_rate);
    for (const auto& [op, c] : cases)
      if (!stop_requested) sound = time_shape(*backend, *op, c, flags, copy_rate, out) && sound;
    fmt::print("\n");
  }
  if (!flags.times_only)
    fmt::print("  bytes as counted on simt, beside the contract's formula (1.0000 is equal; a simulator is no clock)\n");
  for (const auto& [op, c] : cases)
    if (!flags.times_only && !stop_requested) sound = count_shape(*op, c, flags, out) && sound;
  fmt::print("\n{} rows, {}\n", cases.size(), sound ? "every output right" : "some outputs WRONG");
  if (stop_requested) return 130;
  return sound ? kAllPassed : kVerdictFailed;
}

}  // namespace assay
