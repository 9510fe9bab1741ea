// SPDX-License-Identifier: Apache-2.0
#include "validate/model/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "validate/base/error.hpp"
#include "validate/model/apart.hpp"
#include "validate/problem/bounds.hpp"
#include "validate/values/random.hpp"
#include "validate/worker/clock.hpp"

namespace assay {

void KernelMachine::run(const Step& step, const Op&, Problem& problem) {
  const Kernel& kernel = choice_.kernel(step, problem.args());
  const std::size_t bytes = kernel.workspace_bytes(problem.args());
  const auto free_it = [this](void* p) { backend_.release(p); };
  std::unique_ptr<void, decltype(free_it)> workspace(bytes ? backend_.allocate(bytes, 0, "workspace") : nullptr, free_it);
  if (bytes) backend_.fill(workspace.get(), std::byte{0xff}, bytes);
  const std::string where = fmt::format("{}/{}, '{}' of layer {}", kernel.op, kernel.name, step.name, step.layer);
  now_at(where);
  try {
    backend_.run(backend_.launcher(kernel), problem.args(), workspace.get(), how_);
  } catch (const NoMemory&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw StepFault(fmt::format("{}: {}", where, e.what()));
  }
}

namespace {

// Whether two steps differ in their layer alone, so that the same kernel is the best for both.
bool alike(const Step& a, const Step& b) {
  return a.op == b.op && a.name == b.name && a.dims == b.dims && a.attributes == b.attributes && a.parts.size() == b.parts.size();
}

// Bytes of a step's tensors: a table counts as the rows that are taken from it, the cache not at all.
double least_bytes_of(const PlacedStep& p) {
  double bytes = 0;
  for (std::size_t k = 0; k < p.op.tensors.size(); ++k) {
    const std::string_view name = p.op.tensors[k].name;
    if (!name.ends_with("_pool"))
      bytes += static_cast<double>(p.problem.tensors()[name == "table" ? p.op.tensors.size() - 1 : k]->bytes());
  }
  return bytes;
}

}  // namespace

std::unique_ptr<Replay> KernelMachine::record(const std::vector<PlacedStep>& steps, const NextTokens& next, bool as_graph,
                                              std::vector<StepTime>& times) {
  Launcher choose = on_simt::next_tokens;
#if defined(ASSAY_GPU)
  if (backend_.name() == "cuda") choose = on_gpu::next_tokens;
#endif
  struct StepByStep final : Replay {
    StepByStep(KernelMachine& m, const std::vector<PlacedStep>& s, Launcher c, const NextTokens& n)
        : machine(m), steps(s), choose(c), next(n) {}
    void run(int times) override {
      for (int i = 0; i < times; ++i) {
        for (const PlacedStep& s : steps) machine.run(s.step, s.op, s.problem);
        machine.backend_.run(choose, &next, nullptr, machine.how_);
      }
    }
    KernelMachine& machine;
    std::vector<PlacedStep> steps;
    Launcher choose;
    NextTokens next;
  };
  Clock* const clock = backend_.clock();
  if (!clock) return std::make_unique<StepByStep>(*this, steps, choose, next);

  struct Memory {
    Backend& backend;
    void* data = nullptr;
    std::size_t size = 0;
    explicit Memory(Backend& b) : backend(b) {}
    ~Memory() { free(); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    void free() {
      if (data) backend.release(data);
      data = nullptr, size = 0;
    }
    void* of(std::size_t bytes) {
      if (bytes > size) free(), data = backend.allocate(bytes, 0, "workspace"), size = bytes;
      return data;
    }
  };
  struct Recorded final : Replay {
    explicit Recorded(Backend& b) : workspace(b) {}
    void run(int times) override { all->run(times); }
    Memory workspace;  // of each step in its turn
    NextTokens next{};
    std::unique_ptr<Replay> all{};
  };
  // The steps in groups of those that are alike, and the kernels that could run each group, the preferred one first.
  std::vector<std::vector<std::size_t>> groups;
  std::vector<const Kernel*> chosen(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) {
      return steps[g[0]].step.layer >= 0 && alike(steps[g[0]].step, steps[i].step) &&
             choice_.named(steps[g[0]].step) == choice_.named(steps[i].step);
    });
    if (group == groups.end()) groups.push_back({i});
    else group->push_back(i);
  }
  const auto bound = [&](std::size_t i, const Kernel& k, Memory& workspace) {
    return BoundLaunch{backend_.launcher(k), steps[i].problem.args(), workspace.of(k.workspace_bytes(steps[i].problem.args()))};
  };
  const auto guarded = [](const std::string& where, const auto& work) {
    now_at(where);
    try {
      return work();
    } catch (const NoMemory&) {
      throw;
    } catch (const std::runtime_error& e) {
      throw StepFault(fmt::format("{}: {}", where, e.what()));
    }
  };
  auto recorded = std::make_unique<Recorded>(backend_);
  std::size_t most = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) run(steps[i].step, steps[i].op, steps[i].problem);
  for (const auto& group : groups) {
    const Step& step = steps[group[0]].step;
    const std::vector<const Kernel*> candidates = choice_.candidates(step, steps[group[0]].problem.args());
    const Kernel* best = candidates.front();
    double least = INFINITY, probe_least = INFINITY;
    const auto time_it = [&](const Kernel& k) {
      Memory workspace(backend_);
      const auto timed = [&](const std::vector<std::size_t>& which, bool graph, int runs) {
        std::size_t bytes = 0;
        for (const std::size_t i : which) bytes = std::max(bytes, k.workspace_bytes(steps[i].problem.args()));
        workspace.of(bytes);
        std::vector<BoundLaunch> launches;
        for (const std::size_t i : which) launches.push_back(bound(i, k, workspace));
        const std::unique_ptr<Replay> replay = backend_.record(std::move(launches), graph);
        double s = INFINITY;
        for (int r = 0; r < runs; ++r) {
          const double begin = clock->now_s();
          replay->run(1);
          s = std::min(s, clock->now_s() - begin);
          if (s > 10 * probe_least + 5e-3) break;  // a launch may take a second
        }
        return s;
      };
      const double first = timed({group[0]}, false, 3);  // one of the three loads the kernel's code
      if (first > 3 * probe_least + 50e-6) return;
      probe_least = std::min(probe_least, first);
      const double all = as_graph ? timed(group, true, 4) : first * static_cast<double>(group.size());
      if (all < least) least = all, best = &k;
    };
    for (const Kernel* const k : candidates) {
      const std::string where = fmt::format("{}/{}, '{}', as it is timed", k->op, k->name, step.name);
      try {
        guarded(where, [&] { time_it(*k); });
      } catch (const NoMemory&) {  // its workspace
      } catch (const StepFault& e) {
        if (k == candidates.front()) throw;
        fmt::print(stderr, "left out: {}\n", e.what());
      }
    }
    for (const std::size_t i : group) chosen[i] = best, most = std::max(most, best->workspace_bytes(steps[i].problem.args()));
    times.push_back({best->op, best->name, step.name, static_cast<int>(group.size()), least * 1e6,
                     least_bytes_of(steps[group[0]]) * static_cast<double>(group.size())});
  }
  recorded->workspace.of(most);
  recorded->next = next;
  std::vector<BoundLaunch> launches;
  for (std::size_t i = 0; i < steps.size(); ++i) launches.push_back(bound(i, *chosen[i], recorded->workspace));
  launches.push_back({choose, &recorded->next, nullptr});
  return guarded(std::string("a pass as a whole"), [&] {
    if (as_graph) backend_.record({launches.back()}, false)->run(1);  // loads its code
    recorded->all = backend_.record(std::move(launches), as_graph);
    return std::unique_ptr<Replay>(std::move(recorded));
  });
}

void* ContractMachine::allocate(std::size_t bytes, std::string_view) {
  std::vector<std::byte> all(bytes + 1);
  void* const p = all.data();
  memory_.emplace(p, std::move(all));
  return p;
}
void ContractMachine::write(void* to, const void* host, std::size_t bytes) {
  if (bytes) std::memcpy(to, host, bytes);
}
void ContractMachine::read(void* host, const void* from, std::size_t bytes) {
  if (bytes) std::memcpy(host, from, bytes);
}
void ContractMachine::fill(void* to, std::byte value, std::size_t bytes) {
  if (bytes) std::memset(to, std::to_integer<int>(value), bytes);
}

void ContractMachine::run(const Step& step, const Op& op, Problem& problem) {
  const Kernel& kernel = choice_.kernel(step, problem.args());
  now_at("the measure of the band");
  if (const Legality ok = problem.legal(); !ok)
    throw std::logic_error(fmt::format("step {} of {}: {}", step.name, op.name, ok.why));
  problem.solve();
  int output = 0;
  for (std::size_t k = 0; k < op.tensors.size(); ++k) {
    if (op.tensors[k].role != Role::output) continue;
    const Tensor& t = *problem.tensors()[k];
    const std::span<const double> golden = problem.golden(output);
    const std::uint64_t key = random::key(seed_, steps_ * 8 + static_cast<std::uint64_t>(output), random::Purpose::value);
    std::vector<double> values(golden.size());
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < golden.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const double deviation = problem.bound_with(Errors::typical, kernel.numerics, output, at);
      values[i] = golden[i] + (deviation > 0 ? deviation * random::normal(key, i) : 0);
    }
    // Note: an output of the same step does not depend on this one.
    for (std::size_t i = 0; i < values.size(); ++i) t.set(static_cast<std::int64_t>(i), values[i]);
    ++output;
  }
  ++steps_;
}

}  // namespace assay
