// SPDX-License-Identifier: Apache-2.0
// A pass that is recorded with the fastest kernel for each kind of its steps.
#pragma once

#include <memory>
#include <vector>

#include "validate/model/choice.hpp"
#include "validate/model/machine/machine.hpp"
#include "validate/worker/clock.hpp"

namespace assay {

// The steps have run once.  `choose` gets `next` behind them.  `times` gets what was measured of each kind of steps.
std::unique_ptr<Replay> record_fastest(Backend& backend, const Clock& clock, const KernelChoice& choice,
                                       const std::vector<PlacedStep>& steps, const NextTokens& next, Launcher choose,
                                       bool as_graph, std::vector<StepTime>& times);

}  // namespace assay
