// SPDX-License-Identifier: Apache-2.0
// How fast a model generates: time to the first token, time per token, memory, and what a step of decoding reads at least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "validate/model/choice.hpp"
#include "validate/model/engine.hpp"

namespace assay {

struct ModelTimes {
  std::int64_t batch = 0, prompt = 0, outputs = 0;
  double first_token_s = 0, token_s = 0;  // until all sequences have their first token; per step of decoding, a mean
  double tokens_s = 0;                    // tokens a second of all sequences, from the prompts to the last token
  double least_bytes = 0;  // of a step in the middle: every weight but the tables once, and the cache of all sequences
  double copy_rate = 0;    // bytes a second, measured
  std::size_t needed = 0;  // bytes that the engine allocates
  std::size_t memory = 0;  // bytes of the device that are in use, of all processes
  std::vector<StepTime> prompt_steps{}, steps{};
  double floor_share() const { return least_bytes / copy_rate / token_s; }
};

struct TimedShape {
  std::int64_t batch, prompt, outputs;
  std::int64_t ahead;  // passes of decoding that are started before their tokens are read
};

// A device with a clock, as it is before an engine allocates anything there.
struct TimedDevice {
  TimedDevice(Backend& b, double rate) : backend(b), copy_rate(rate), in_use(b.memory_in_use()), free(b.memory_free()) {}
  Backend& backend;
  double copy_rate;                 // bytes a second, measured
  std::size_t in_use;               // bytes, by all processes
  std::optional<std::size_t> free;  // bytes
};

// The bytes that the engine of time_model() allocates on the device and keeps to the end: an engine of these options makes the
// same passes on a machine that counts.
std::size_t memory_needed(const LoadedModel&, const KernelChoice&, const EngineOptions&, const TimedShape&);

// Random prompts of one length, greedy tokens.  What depends on the shape alone is made before the clock starts: memory, the
// choice of kernels, the graph.  Throws as Engine::next() does, and NoMemory, before it allocates, if more is needed than was
// free.
ModelTimes time_model(const LoadedModel&, Engine&, const KernelChoice&, const TimedDevice&, const TimedShape&,
                      std::uint64_t seed);

}  // namespace assay
