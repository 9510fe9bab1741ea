// SPDX-License-Identifier: Apache-2.0
#include "validate/model/machine/fastest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validate/base/error.hpp"
#include "validate/model/machine/step_fault.hpp"
#include "validate/model/machine/workspace.hpp"

namespace assay {

namespace {

using Alike = std::vector<std::size_t>;  // steps, by their numbers

// Whether two steps differ in their layer alone, so that the same kernel is the best for both.
bool alike(const Step& a, const Step& b) {
  return a.op == b.op && a.name == b.name && a.dims == b.dims && a.attributes == b.attributes && a.parts.size() == b.parts.size();
}

// Bytes of a step's tensors: a table counts as the rows that are taken from it, which are the output, the cache not at all.
double least_bytes_of(const PlacedStep& p) {
  double bytes = 0;
  for (std::size_t k = 0; k < p.op.tensors.size(); ++k) {
    const ModelTensor* const is = p.step.part(p.op.tensors[k].name);
    if (!is || is->kind == ModelTensor::Kind::cache) continue;
    bytes +=
        static_cast<double>(p.problem.tensors()[is->kind == ModelTensor::Kind::table ? p.op.tensors.size() - 1 : k]->bytes());
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

}  // namespace

std::unique_ptr<Replay> record_fastest(Backend& backend, const Clock& clock, const KernelChoice& choice,
                                       const std::vector<PlacedStep>& steps, const NextTokens& next, Launcher choose,
                                       bool as_graph, std::vector<StepTime>& times) {
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

}  // namespace assay
