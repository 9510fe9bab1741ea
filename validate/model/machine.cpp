// SPDX-License-Identifier: Apache-2.0
#include "validate/model/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "validate/base/error.hpp"
#include "validate/model/apart.hpp"
#include "validate/problem/bounds.hpp"
#include "validate/values/random.hpp"
#include "validate/worker/clock.hpp"

namespace assay {

namespace {

// Memory of a backend.
class Workspace {
 public:
  Workspace(Backend& backend, std::size_t bytes)
      : backend_(backend), data_(bytes ? backend.allocate(bytes, 0, "workspace") : nullptr) {}
  ~Workspace() {
    if (data_) backend_.release(data_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  void* data() const { return data_; }

 private:
  Backend& backend_;
  void* const data_;
};

// Bytes of a workspace that the steps use in turn, each by any kernel that may run it.
std::size_t workspace_of(const KernelChoice& choice, const std::vector<PlacedStep>& steps) {
  std::size_t most = 0;
  for (const PlacedStep& s : steps)
    for (const Kernel* k : choice.candidates(s.step, s.problem)) most = std::max(most, k->workspace_bytes(s.problem.args()));
  return most;
}

// Does work that a kernel may break, and says where it did.
template <class Work>
auto guarded(const std::string& where, const Work& work) {
  now_at(where);
  try {
    return work();
  } catch (const NoMemory&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw StepFault(fmt::format("{}: {}", where, e.what()));
  }
}

using Alike = std::vector<std::size_t>;  // steps, by their numbers

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

class Recorder {
 public:
  Recorder(Backend& backend, const Clock& clock, const KernelChoice& choice, const std::vector<PlacedStep>& steps,
           void* workspace, bool as_graph)
      : backend_(backend), clock_(clock), choice_(choice), steps_(steps), workspace_(workspace), as_graph_(as_graph) {}

  std::vector<Alike> groups() const {
    std::vector<Alike> all;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i].step;
      const auto group = std::find_if(all.begin(), all.end(), [&](const Alike& g) {
        const Step& first = steps_[g[0]].step;
        return first.layer >= 0 && alike(first, step) && choice_.named(first) == choice_.named(step);
      });
      if (group == all.end()) all.push_back({i});
      else group->push_back(i);
    }
    return all;
  }

  // The fastest kernel of a group.
  std::pair<const Kernel*, StepTime> fastest(const Alike& group) {
    const Step& step = steps_[group[0]].step;
    const std::vector<const Kernel*> candidates = choice_.candidates(step, steps_[group[0]].problem);
    const Kernel* best = candidates.front();
    double least = INFINITY, least_of_one = INFINITY;
    for (const Kernel* const k : candidates) {
      const std::string where = fmt::format("{}/{}, '{}', as it is timed", k->op, k->name, step.name);
      try {
        const double s = guarded(where, [&] { return seconds_of(group, *k, least_of_one); });
        if (s < least) {
          least = s;
          best = k;
        }
      } catch (const StepFault& e) {
        if (k == candidates.front()) throw;
        fmt::print(stderr, "left out: {}\n", e.what());
      }
    }
    return {best,
            {best->op, best->name, step.name, static_cast<int>(group.size()), least * 1e6,
             least_bytes_of(steps_[group[0]]) * static_cast<double>(group.size())}};
  }

  BoundLaunch bound(std::size_t step, const Kernel& k, bool first) const {
    return {backend_.launcher(k), steps_[step].problem.args(), workspace_, !first};
  }

 private:
  // The time of a group's steps.  `least_of_one`: the least time of one of them by any kernel so far; a kernel that is far from
  // it is given up.
  double seconds_of(const Alike& group, const Kernel& k, double& least_of_one) {
    const double one = seconds({group[0]}, k, false, 3, least_of_one);  // the first of the three loads the kernel's code
    if (one > 3 * least_of_one + 50e-6) return INFINITY;
    least_of_one = std::min(least_of_one, one);
    return as_graph_ ? seconds(group, k, true, 4, least_of_one) : one * static_cast<double>(group.size());
  }
  double seconds(const Alike& which, const Kernel& k, bool graph, int runs, double least_of_one) {
    std::vector<BoundLaunch> launches;
    for (const std::size_t i : which) launches.push_back(bound(i, k, launches.empty()));
    const std::unique_ptr<Replay> replay = backend_.record(std::move(launches), graph);
    double s = INFINITY;
    for (int r = 0; r < runs; ++r) {
      const double begin = clock_.now_s();
      replay->run(1);
      s = std::min(s, clock_.now_s() - begin);
      if (s > 10 * least_of_one + 5e-3) break;  // a launch may take a second
    }
    return s;
  }

  Backend& backend_;
  const Clock& clock_;
  const KernelChoice& choice_;
  const std::vector<PlacedStep>& steps_;
  void* const workspace_;
  const bool as_graph_;
};

struct Recorded final : Replay {
  Recorded(Backend& b, std::size_t bytes, const NextTokens& n) : workspace(b, bytes), next(n) {}
  void run(int times) override { all->run(times); }
  Workspace workspace;
  NextTokens next;
  std::unique_ptr<Replay> all{};
};

// The steps have run once.  `choose` gets `next` behind them.  `times` gets what was measured of each kind of steps.
std::unique_ptr<Replay> recorded(Backend& backend, const Clock& clock, const KernelChoice& choice,
                                 const std::vector<PlacedStep>& steps, const NextTokens& next, Launcher choose, bool as_graph,
                                 std::vector<StepTime>& times) {
  auto made = std::make_unique<Recorded>(backend, workspace_of(choice, steps), next);
  Recorder recorder(backend, clock, choice, steps, made->workspace.data(), as_graph);
  std::vector<const Kernel*> kernels(steps.size());
  for (const Alike& group : recorder.groups()) {
    const auto& [kernel, time] = recorder.fastest(group);
    times.push_back(time);
    for (const std::size_t i : group) kernels[i] = kernel;
  }
  std::vector<BoundLaunch> launches;
  for (std::size_t i = 0; i < steps.size(); ++i) launches.push_back(recorder.bound(i, *kernels[i], i == 0));
  launches.push_back({choose, &made->next, nullptr});
  return guarded("a pass as a whole", [&] {
    if (as_graph) backend.record({launches.back()}, false)->run(1);  // loads its code
    launches.back().after = true;
    made->all = backend.record(std::move(launches), as_graph);
    return std::unique_ptr<Replay>(std::move(made));
  });
}

struct Passes final : Replay {
  explicit Passes(std::function<void()> one) : pass(std::move(one)) {}
  void run(int times) override {
    for (int i = 0; i < times; ++i) pass();
  }
  std::function<void()> pass;
};

}  // namespace

void KernelMachine::run(const Step& step, const Op&, Problem& problem) {
  const Kernel& kernel = choice_.kernel(step, problem.args());
  const std::size_t bytes = kernel.workspace_bytes(problem.args());
  const Workspace workspace(backend_, bytes);
  if (bytes) backend_.fill(workspace.data(), std::byte{0xff}, bytes);
  guarded(fmt::format("{}/{}, '{}' of layer {}", kernel.op, kernel.name, step.name, step.layer),
          [&] { backend_.run(backend_.launcher(kernel), problem.args(), workspace.data(), how_); });
}

std::unique_ptr<Replay> KernelMachine::record(const std::vector<PlacedStep>& steps, const NextTokens& next, bool as_graph,
                                              std::vector<StepTime>& times) {
  Launcher choose = on_simt::next_tokens;
#if defined(ASSAY_GPU)
  if (backend_.name() == "cuda") choose = on_gpu::next_tokens;
#endif
  const auto run_all = [this, steps] {
    for (const PlacedStep& s : steps) run(s.step, s.op, s.problem);
  };
  if (const Clock* const clock = backend_.clock()) {
    run_all();
    return recorded(backend_, *clock, choice_, steps, next, choose, as_graph, times);
  }
  return std::make_unique<Passes>([this, run_all, choose, next] { run_all(), backend_.run(choose, &next, nullptr, how_); });
}

void* CountingMachine::allocate(std::size_t bytes, std::string_view) {
  void* const p = reinterpret_cast<void*>(address_);
  bytes_ += bytes;
  address_ += (bytes / kApart + 1) * kApart;
  return p;
}
void CountingMachine::read(void* host, const void*, std::size_t bytes) {
  if (bytes) std::memset(host, 0, bytes);
}
std::unique_ptr<Replay> CountingMachine::record(const std::vector<PlacedStep>& steps, const NextTokens&, bool,
                                                std::vector<StepTime>&) {
  bytes_ += workspace_of(choice_, steps);
  return std::make_unique<Passes>([] {});
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
