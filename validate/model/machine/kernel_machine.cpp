// SPDX-License-Identifier: Apache-2.0
#include "validate/model/machine/kernel_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "validate/model/machine/fastest.hpp"
#include "validate/model/machine/step_fault.hpp"
#include "validate/model/machine/workspace.hpp"

namespace assay {

namespace {

// A pass that is run step by step.
struct Passes final : Replay {
  explicit Passes(std::function<void()> one) : pass(std::move(one)) {}
  void run(int times) override {
    for (int i = 0; i < times; ++i) pass();
  }
  std::function<void()> pass;
};

}  // namespace

void KernelMachine::run(const Step& step, const Op& op, Problem& problem) {
  const Kernel& kernel = choice_.kernel(step, problem.args());
  const std::string where = fmt::format("{}/{}, '{}' of layer {}", kernel.op, kernel.name, step.name, step.layer);
  if (kernel.loaded) return guarded(where, [&] { worker_.run(step, kernel, op, problem, how_); });
  const std::size_t bytes = kernel.workspace_bytes(problem.args());
  const Workspace workspace(backend_, bytes);
  if (bytes) backend_.fill(workspace.data(), std::byte{0xff}, bytes);
  guarded(where, [&] { backend_.run(backend_.launcher(kernel), problem.args(), workspace.data(), how_); });
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
  const bool by_worker = std::any_of(steps.begin(), steps.end(), [this](const PlacedStep& s) {
    return choice_.kernel(s.step, s.problem.args()).loaded != nullptr;
  });
  if (const Clock* const clock = backend_.clock(); clock && !by_worker) {
    run_all();
    return record_fastest(backend_, *clock, choice_, steps, next, choose, as_graph, times);
  }
  return std::make_unique<Passes>([this, run_all, choose, next] {
    run_all();
    backend_.run(choose, &next, nullptr, how_);
  });
}

}  // namespace assay
