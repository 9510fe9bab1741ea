// SPDX-License-Identifier: Apache-2.0
// Judges every step of a pass by the formula of its op, from the inputs that the step had.  So an error that was made earlier
// does not count, and the first step that is wrong is the one at fault.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "validate/judge/compare.hpp"
#include "validate/model/choice.hpp"
#include "validate/model/engine.hpp"

namespace assay {

struct WrongStep {
  std::string pass, kernel;  // "prefill"; "rope/table"
  std::int64_t layer = -1;
  std::string tensor;         // of the model: "k"
  std::string element;        // "k_out[0, 3, 1, 17]"
  Comparison c{};             // compared 0: a side effect
  std::string side_effect{};  // "changed its input 'x'"
};

// All steps of one kernel.
struct KernelSteps {
  std::int64_t steps = 0, wrong = 0;
  double margin = 0;  // largest err/bound
};

class StepJudge final : public Observer {
 public:
  StepJudge(Machine& machine, const KernelChoice& choice) : machine_(machine), choice_(choice) {}
  // Names the passes that follow.
  void pass(std::string name) { pass_ = std::move(name); }
  // Gets the outputs of each step, in host memory.
  std::function<void(const Step&, const std::string& tensor, const Tensor&)> stored{};

  void before(const Step&, const Op&, Problem&) override;
  void after(const Step&, const Op&, Problem&) override;

  std::int64_t steps() const { return steps_; }
  const std::vector<WrongStep>& wrong() const { return wrong_; }  // in the order of the passes
  const std::map<std::string, KernelSteps>& kernels() const { return kernels_; }

 private:
  // The elements of a tensor of the machine, copied to the host.
  Tensor copied(const Tensor&);

  Machine& machine_;
  const KernelChoice& choice_;
  std::string pass_;
  std::int64_t steps_ = 0;
  std::vector<WrongStep> wrong_;
  std::map<std::string, KernelSteps> kernels_;
  std::unique_ptr<Problem> problem_;  // of the current step, in host memory
  std::deque<std::vector<std::byte>> memory_;
};

// "y[3, 17]"
std::string element_text(std::string_view name, const Tensor&, std::int64_t i);

}  // namespace assay
