// SPDX-License-Identifier: Apache-2.0
// Which kernel runs a step: the one that --kernel names, or the op's preferred one.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "validate/model/plan.hpp"
#include "validate/problem/op.hpp"
#include "validate/worker/backend.hpp"

namespace assay {

class KernelChoice {
 public:
  // Words are OP/KERNEL, or KERNEL for each op that has one of that name; with @LAYER they hold for one layer.  The last that
  // holds counts.  Where none does, the kernel is the last of the op's ladder (datasets/bench) that takes the step on this
  // machine. Throws BadInput for a word that means no kernel of these steps.
  KernelChoice(const std::vector<std::string>& words, const std::filesystem::path& datasets, const std::vector<Step>& steps,
               const Backend& backend, DType dtype);
  // Throws BadInput if the named kernel cannot run the step, or none can.
  const Kernel& kernel(const Step& step, const void* args) const;
  // The kernels that may run the step, kernel() first: it alone where it is named, else all of ours that are right and can,
  // except `naive` and those that need more workspace than the step's tensors have bytes.
  std::vector<const Kernel*> candidates(const Step& step, Problem& problem) const;

  struct Named {
    std::string op, kernel;   // op empty: of any op
    std::int64_t layer = -1;  // -1: of all
    bool means(const Step&) const;
  };
  // The word of --kernel that chooses the step's kernel; null: none does.
  const Named* named(const Step& step) const;

 private:
  // Why the kernel cannot run here with these arguments; empty: it can.
  std::string refusal(const Kernel&, const void* args) const;

  std::vector<Named> named_;
  std::map<std::string, std::vector<const Kernel*>, std::less<>> preferred_;  // by op, the best first
  const Backend& backend_;
  DType dtype_;
};

}  // namespace assay
