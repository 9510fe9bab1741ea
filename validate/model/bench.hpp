// SPDX-License-Identifier: Apache-2.0
// How fast a model generates: time to the first token, time per token, memory, and what a step of decoding reads at least.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "validate/model/engine.hpp"

namespace assay {

struct ModelTimes {
  std::int64_t batch = 0, prompt = 0, outputs = 0;
  double first_token_s = 0, token_s = 0;  // until all sequences have their first token; per step of decoding, a mean
  double tokens_s = 0;                    // tokens a second of all sequences, from the prompts to the last token
  double least_bytes = 0;  // of a step in the middle: every weight but the tables once, and the cache of all sequences
  double copy_rate = 0;    // bytes a second, measured
  std::size_t memory = 0;  // bytes of the device that are in use, of all processes
  std::vector<StepTime> prompt_steps{}, steps{};
  double floor_share() const { return least_bytes / copy_rate / token_s; }
};

struct TimedShape {
  std::int64_t batch, prompt, outputs;
  std::int64_t ahead;  // passes of decoding that are started before their tokens are read
};

// Random prompts of one length, greedy tokens.  What depends on the shape alone is made before the clock starts: memory, the
// choice of kernels, the graph.  Throws as Engine::next() does, and std::runtime_error without a clock.
ModelTimes time_model(const LoadedModel&, Engine&, Backend&, const TimedShape&, double copy_rate, std::uint64_t seed);

}  // namespace assay
