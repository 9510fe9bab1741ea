// SPDX-License-Identifier: Apache-2.0
#include "validate/model/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "validate/base/error.hpp"
#include "validate/base/memory.hpp"
#include "validate/model/machine/counting_machine.hpp"
#include "validate/values/random.hpp"
#include "validate/worker/clock.hpp"

namespace assay {

namespace {

double weight_bytes(const reference::Decoder& d) {
  double bytes = static_cast<double>(d.head.bytes() + d.gamma.bytes() + d.beta.bytes());
  for (const auto& l : d.layers)
    for (const Tensor* t : {&l.gamma1, &l.beta1, &l.wq, &l.wk, &l.wv, &l.bq, &l.bk, &l.bv, &l.wo, &l.bo, &l.gamma2, &l.beta2,
                            &l.w_gate, &l.w_up, &l.b_up, &l.w_down, &l.b_down})
      bytes += static_cast<double>(t->bytes());
  return bytes;
}

// The passes of a shape.
class TimedPasses {
 public:
  TimedPasses(const LoadedModel& model, Engine& engine, const TimedShape& shape, std::uint64_t seed) : engine_(engine) {
    const std::int64_t length = shape.prompt + shape.outputs;
    engine.restart(pages_for(std::vector(static_cast<std::size_t>(shape.batch), length), engine.pages().page_size()), length);
    for (std::int64_t b = 0; b < shape.batch; ++b) {
      const std::uint64_t key = random::key(seed, static_cast<std::uint64_t>(b), random::Purpose::kind);
      auto& prompt = prompts_.emplace_back();
      for (std::int64_t i = 0; i < shape.prompt; ++i)
        prompt.push_back(static_cast<std::int32_t>(random::index(key, static_cast<std::uint64_t>(i), model.decoder.vocab)));
    }
  }
  void close() {
    for (const std::int64_t s : sequences_) engine_.close(s);
    sequences_.clear();
  }
  // New sequences in place of those before, each with its prompt.
  std::vector<NewTokens> opened() {
    close();
    std::vector<NewTokens> news;
    for (const auto& prompt : prompts_) news.push_back({sequences_.emplace_back(engine_.open()), prompt});
    return news;
  }
  void read(const std::vector<NewTokens>& prompts) { tokens_ = engine_.next(prompts); }
  void decode(std::int64_t passes) {
    std::vector<NewTokens> news;
    for (std::size_t b = 0; b < sequences_.size(); ++b) news.push_back({sequences_[b], std::span(tokens_).subspan(b, 1)});
    tokens_ = engine_.next(news, static_cast<int>(passes)).back();
  }

 private:
  Engine& engine_;
  std::vector<std::vector<std::int32_t>> prompts_;
  std::vector<std::int64_t> sequences_;
  std::vector<std::int32_t> tokens_;
};

}  // namespace

std::size_t memory_needed(const LoadedModel& model, const KernelChoice& choice, const EngineOptions& options,
                          const TimedShape& shape) {
  CountingMachine machine(choice);
  Engine engine(model, machine, options);
  TimedPasses passes(model, engine, shape, 0);
  passes.read(passes.opened());
  passes.decode(1);
  return machine.bytes();
}

ModelTimes time_model(const LoadedModel& model, Engine& engine, const KernelChoice& choice, const TimedDevice& device,
                      const TimedShape& shape, std::uint64_t seed) {
  const reference::Decoder& d = model.decoder;
  const Clock& clock = clock_of(device.backend);
  ModelTimes t{.batch = shape.batch, .prompt = shape.prompt, .outputs = shape.outputs, .copy_rate = device.copy_rate};
  t.needed = memory_needed(model, choice, engine.options(), shape);
  if (device.free && t.needed > *device.free)
    throw NoMemory(fmt::format("needs {} of device memory and {} are free", size_text(static_cast<double>(t.needed)),
                               size_text(static_cast<double>(*device.free))));
  TimedPasses passes(model, engine, shape, seed);
  const auto seconds_of_prompts = [&] {
    const std::vector<NewTokens> prompts = passes.opened();
    const double begin = clock.now_s();
    passes.read(prompts);
    return clock.now_s() - begin;
  };
  seconds_of_prompts();
  t.prompt_steps = engine.step_times();
  passes.decode(1);
  t.steps = engine.step_times();
  t.first_token_s = std::min(seconds_of_prompts(), seconds_of_prompts());
  const double begin = clock.now_s();
  for (std::int64_t k = 1; k < shape.outputs; k += shape.ahead) passes.decode(std::min(shape.ahead, shape.outputs - k));
  const double decoding = clock.now_s() - begin;
  t.token_s = decoding / static_cast<double>(shape.outputs - 1);
  t.tokens_s = static_cast<double>(shape.batch * shape.outputs) / (t.first_token_s + decoding);
  t.memory = device.backend.memory_in_use();
  const double positions =
      static_cast<double>(shape.batch) * (static_cast<double>(shape.prompt) + static_cast<double>(shape.outputs) / 2);
  t.least_bytes = weight_bytes(d) + positions * static_cast<double>(2 * d.kv_heads * d.head_dim * size_of(model.dtype)) *
                                        static_cast<double>(d.layers.size());
  passes.close();
  return t;
}

}  // namespace assay
