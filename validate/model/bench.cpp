// SPDX-License-Identifier: Apache-2.0
#include "validate/model/bench.hpp"

#include <algorithm>
#include <cmath>
#include <set>

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

}  // namespace

ModelTimes time_model(const LoadedModel& model, Engine& engine, Backend& backend, const TimedShape& shape, double copy_rate,
                      std::uint64_t seed) {
  const reference::Decoder& d = model.decoder;
  const Clock& clock = clock_of(backend);
  const std::int64_t length = shape.prompt + shape.outputs;
  const std::int64_t pages = pages_for(std::vector(static_cast<std::size_t>(shape.batch), length), engine.pages().page_size());
  engine.restart(pages, length);
  std::vector<std::vector<std::int32_t>> prompts;
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    const std::uint64_t key = random::key(seed, static_cast<std::uint64_t>(b), random::Purpose::kind);
    auto& prompt = prompts.emplace_back();
    for (std::int64_t i = 0; i < shape.prompt; ++i)
      prompt.push_back(static_cast<std::int32_t>(random::index(key, static_cast<std::uint64_t>(i), d.vocab)));
  }
  std::vector<std::int64_t> sequences;
  std::vector<std::int32_t> tokens;
  const auto read_prompts = [&] {
    for (const std::int64_t s : sequences) engine.close(s);
    sequences.clear();
    std::vector<NewTokens> news;
    for (const auto& prompt : prompts) news.push_back({sequences.emplace_back(engine.open()), prompt});
    const double begin = clock.now_s();
    tokens = engine.next(news);
    return clock.now_s() - begin;
  };
  const auto decode = [&](std::int64_t passes) {
    std::vector<NewTokens> news;
    for (std::size_t b = 0; b < sequences.size(); ++b) news.push_back({sequences[b], std::span(tokens).subspan(b, 1)});
    tokens = engine.next(news, static_cast<int>(passes)).back();
  };
  ModelTimes t{.batch = shape.batch, .prompt = shape.prompt, .outputs = shape.outputs, .copy_rate = copy_rate};
  read_prompts(), t.prompt_steps = engine.step_times();
  decode(1), t.steps = engine.step_times();
  t.first_token_s = std::min(read_prompts(), read_prompts());
  const double begin = clock.now_s();
  for (std::int64_t k = 1; k < shape.outputs; k += shape.ahead) decode(std::min(shape.ahead, shape.outputs - k));
  const double decoding = clock.now_s() - begin;
  t.token_s = decoding / static_cast<double>(shape.outputs - 1);
  t.tokens_s = static_cast<double>(shape.batch * shape.outputs) / (t.first_token_s + decoding);
  t.memory = backend.memory_in_use();
  const double positions =
      static_cast<double>(shape.batch) * (static_cast<double>(shape.prompt) + static_cast<double>(shape.outputs) / 2);
  t.least_bytes = weight_bytes(d) + positions * static_cast<double>(2 * d.kv_heads * d.head_dim * size_of(model.dtype)) *
                                        static_cast<double>(d.layers.size());
  for (const std::int64_t s : sequences) engine.close(s);
  return t;
}

}  // namespace assay
