// SPDX-License-Identifier: Apache-2.0
#include "validate/model/machine/workspace.hpp"

#include <algorithm>

namespace assay {

std::size_t workspace_of(const KernelChoice& choice, const std::vector<PlacedStep>& steps) {
  std::size_t most = 0;
  for (const PlacedStep& s : steps)
    for (const Kernel* k : choice.candidates(s.step, s.problem)) most = std::max(most, k->workspace_bytes(s.problem.args()));
  return most;
}

}  // namespace assay
