// SPDX-License-Identifier: Apache-2.0
// Times of one shape, on a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "validate/command/bench.hpp"
#include "validate/compare.hpp"
#include "validate/image.hpp"
#include "validate/sample.hpp"
#include "validate/worker.hpp"

namespace assay {

namespace {

using Json = BenchJson;

double quantile(std::vector<double> v, double q) {
  std::sort(v.begin(), v.end());
  const double at = q * static_cast<double>(v.size() - 1);
  const std::size_t low = static_cast<std::size_t>(at), high = std::min(low + 1, v.size() - 1);
  return v[low] + (at - static_cast<double>(low)) * (v[high] - v[low]);
}

// A problem in device memory, several times over.
class DeviceProblem {
 public:
  DeviceProblem(Backend& backend, const Op& op, const Case& c) : backend_(backend), op_(op), packing_(pack(op, c)) {
    inputs_.resize(packing_.input_bytes);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < op.tensors.size(); ++i) {
      bytes += packing_.placements[i].bytes;
      if (is_given(op.tensors[i]))
        fill_image(op, c, static_cast<int>(i), packing_.placements[i], inputs_.data() + packing_.given[i], {});
    }
    // Rotated places: at least three times the largest L2 cache between two uses of one.
    const int sets = static_cast<int>(std::clamp<std::size_t>((std::size_t{192} << 20) / std::max<std::size_t>(bytes, 1), 2, 16));
    for (int s = 0; s < sets; ++s) {
      std::vector<std::byte*> pointers;
      for (std::size_t i = 0; i < op.tensors.size(); ++i) {
        const Placement& p = packing_.placements[i];
        memory_.push_back(backend.allocate(p.bytes, p.offset, op.tensors[i].name));
        pointers.push_back(static_cast<std::byte*>(memory_.back()));
        if (is_given(op.tensors[i])) backend.write(memory_.back(), inputs_.data() + packing_.given[i], p.bytes);
      }
      problems_.push_back(op.make());
      attach(*problems_.back(), c, packing_.placements, pointers);
    }
    // The golden's problem lies on the host.
    golden_ = op.make();
    std::vector<std::byte*> host;
    for (std::size_t i = 0; i < op.tensors.size(); ++i)
      host.push_back(is_given(op.tensors[i]) ? inputs_.data() + packing_.given[i] : nullptr);
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

  Cost cost() const { return golden_->cost(); }
  // Why the kernel cannot run here; empty: it can.
  std::string why_not(const Kernel& k) const {
    if (!backend_.launcher(k)) return "not built for this backend";
    if (k.least_arch > backend_.arch()) return fmt::format("needs sm_{}", k.least_arch);
    if (const Legality ok = k.available(); !ok) return ok.why;
    return k.supports(problems_[0]->args()).why;
  }
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

  // Seconds of a launch on the host's clock: the least of four, or of as many as half a second allows.  The first loads code
  // and lets a library choose its algorithm.
  double estimate(const Kernel& k) {
    double least = 0, sum = 0;
    for (int times = 0; times < 4 && sum < 0.5; ++times) {
      const auto start = std::chrono::steady_clock::now();
      backend_.run(backend_.launcher(k), problems_[0]->args(), workspace_, {});
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      least = times ? std::min(least, seconds) : seconds;
      sum += seconds;
    }
    return least;
  }

  // Runs the kernel once more into garbage and judges what it wrote.
  double margin(const Kernel& k) {
    const std::size_t first = op_.tensors.size() * (problems_.size() - 1);  // the place that was timed last
    double worst = 0;
    std::vector<std::vector<std::byte>> images(op_.tensors.size());
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      if (op_.tensors[i].role != Role::output) continue;
      images[i].assign(packing_.placements[i].bytes, kGarbage[0]);
      if (is_given(op_.tensors[i])) std::copy_n(inputs_.data() + packing_.given[i], images[i].size(), images[i].data());
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

Json head_of_row(std::string_view record, const BenchShape& shape, const Kernel& k) {
  return {{"record", record},  {"op", shape.op->name},         {"kernel", k.name},
          {"backend", "cuda"}, {"dtype", name(shape.c.dtype)}, {"shape", summary(shape.c, shape.op->shape())}};
}

std::string row_text(const BenchShape& shape, const Kernel& k) {
  return fmt::format("  {:<18} {:<18} {:<5} {:<44}", shape.op->name, k.name, name(shape.c.dtype),
                     summary(shape.c, shape.op->shape()));
}

void leave_out(const BenchShape& shape, const Kernel& k, const std::string& why, const BenchOut& out) {
  fmt::print("{} left out: {}\n", row_text(shape, k), why);
  Json j = head_of_row("left_out", shape, k);
  j["reason"] = why;
  out.write(j);
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<const Kernel*> bench_candidates(const BenchShape& shape, const BenchFlags& flags) {
  std::vector<const Kernel*> chosen;
  const auto& asked = flags.run.selection.kernels;
  for (const Kernel& k : kernels()) {
    if (k.op != shape.op->name || k.broken || !k.dtypes.has(shape.c.dtype)) continue;
    if (is_vendor(k) && flags.run.selection.no_vendor) continue;
    const bool reference = k.name == "unfused" || k.name == flags.baseline || is_vendor(k);
    const bool kept = shape.kernels.empty() || has(shape.kernels, k.name);
    if (reference || (asked.empty() ? kept : has(asked, k.name))) chosen.push_back(&k);
  }
  return chosen;
}

bool bench_times(Backend& backend, const BenchShape& shape, const BenchFlags& flags, const Ceilings& ceilings,
                 const BenchOut& out) {
  constexpr double kTooSlow = 50, kQuick = 0.02;  // times the fastest; seconds that cost nobody anything
  DeviceProblem device(backend, *shape.op, shape.c);
  std::vector<const Kernel*> chosen;
  for (const Kernel* k : bench_candidates(shape, flags)) {
    if (const std::string why = device.why_not(*k); why.empty()) chosen.push_back(k);
    else leave_out(shape, *k, why, out);
  }
  for (const Kernel* k : chosen) device.timed(*k);  // the workspace grows to the largest that any of them needs
  bool sound = true;
  std::vector<double> estimates;
  std::erase_if(chosen, [&](const Kernel* k) {
    try {
      estimates.push_back(device.estimate(*k));
      return false;
    } catch (const std::runtime_error& e) {
      leave_out(shape, *k, fmt::format("FAILED: {}", e.what()), out);
      sound = false;
      return true;
    }
  });
  const double fastest = estimates.empty() ? 0 : *std::min_element(estimates.begin(), estimates.end());
  std::vector<const Kernel*> quick;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (estimates[i] <= std::max(kQuick, kTooSlow * fastest)) quick.push_back(chosen[i]);
    else
      leave_out(shape, *chosen[i], fmt::format("{:.1f} ms, {:.0f} times the fastest", 1e3 * estimates[i], estimates[i] / fastest),
                out);
  }
  chosen = quick;
  std::vector<TimedLaunch> launches;
  for (const Kernel* k : chosen) launches.push_back(device.timed(*k)), launches.back().workspace = device.workspace();
  if (launches.empty()) return sound;
  const auto times = backend.time_us(launches, flags.seconds);

  // What ratios refer to, in the order of printing.
  std::vector<std::pair<std::string_view, double>> references;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i]->name == "unfused" || chosen[i]->name == flags.baseline || is_vendor(*chosen[i]))
      references.emplace_back(chosen[i]->name, quantile(times[i], 0.5));
  const Cost cost = device.cost();
  const double matrix_rate = ceilings.matrix_rate(shape.c.dtype);
  const double copy_us = 1e6 * cost.bytes() / ceilings.copy, matrix_us = matrix_rate > 0 ? 1e6 * cost.flops / matrix_rate : 0;
  const bool by_memory = copy_us >= matrix_us;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const double median = quantile(times[i], 0.5), low = quantile(times[i], 0.05), high = quantile(times[i], 0.95);
    const double bytes_rate = cost.bytes() / (1e-6 * median), flops_rate = cost.flops / (1e-6 * median);
    const double margin = device.margin(*chosen[i]);
    const bool right = margin <= 1;
    sound = sound && right;
    std::string ratios;
    Json speedups = Json::object(), baseline_speedup = nullptr;
    for (const auto& [reference, us] : references) {
      speedups[std::string(reference)] = us / median;
      const bool vendor = reference.starts_with("baseline_");
      if (reference == flags.baseline || (flags.baseline == "vendor" && vendor)) baseline_speedup = us / median;
      if (reference != chosen[i]->name)
        ratios += fmt::format("  {:.2f}x {}", us / median, vendor ? reference.substr(9) : reference);
    }
    const std::string rate =
        by_memory ? fmt::format("{:>7.1f} GB/s    {:>5.1f} % of copy  ", 1e-9 * bytes_rate, 100 * copy_us / median)
                  : fmt::format("{:>7.1f} TFLOP/s {:>5.1f} % of matrix", 1e-12 * flops_rate, 100 * matrix_us / median);
    fmt::print("{} {:>9.2f} µs [{:.2f}, {:.2f}]  {}{}{}\n", row_text(shape, *chosen[i]), median, low, high, rate, ratios,
               right ? "" : fmt::format("  WRONG: err/bound {:.3g}", margin));
    std::fflush(stdout);
    Json j = head_of_row("bench", shape, *chosen[i]);
    j.update({{"time_us",
               {{"median", median},
                {"p5", low},
                {"p95", high},
                {"min", quantile(times[i], 0)},
                {"max", quantile(times[i], 1)},
                {"samples", times[i].size()}}},
              {"l2", "flushed"},
              {"flops", cost.flops},
              {"bytes", {{"formula", cost.bytes()}, {"unfused_formula", cost.unfused_bytes}}},
              {"rate_bytes_per_s", bytes_rate},
              {"copy_rate_bytes_per_s", ceilings.copy},
              {"share_of_copy", copy_us / median},
              {"rate_flops_per_s", flops_rate},
              {"matrix_rate_flops_per_s", matrix_rate > 0 ? Json(matrix_rate) : Json(nullptr)},
              {"share_of_matrix", matrix_rate > 0 ? Json(matrix_us / median) : Json(nullptr)},
              {"limit", by_memory ? "copy" : "matrix"},
              {"share_of_limit", std::max(copy_us, matrix_us) / median},
              {"baseline", flags.baseline},
              {"speedup", baseline_speedup},
              {"speedups", speedups},
              {"margin_after_timing", std::isfinite(margin) ? Json(margin) : Json("inf")}});
    out.write(j);
  }
  return sound;
}

}  // namespace assay
