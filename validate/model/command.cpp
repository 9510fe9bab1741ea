// SPDX-License-Identifier: Apache-2.0
#include "validate/model/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "validate/backends/backends.hpp"
#include "validate/backends/choice.hpp"
#include "validate/base/error.hpp"
#include "validate/base/exit.hpp"
#include "validate/base/input.hpp"
#include "validate/model/apart.hpp"
#include "validate/model/bench.hpp"
#include "validate/model/check.hpp"
#include "validate/model/machine/kernel_machine.hpp"
#include "validate/model/machine/step_fault.hpp"
#include "validate/model/sample.hpp"
#include "validate/records/fields/other_fields.hpp"
#include "validate/records/fields/writer.hpp"
#include "validate/records/output_file.hpp"
#include "validate/tasks/loaded.hpp"
#include "validate/worker/clock.hpp"

namespace assay {

namespace {

using Tokens = std::vector<std::int32_t>;

Tokens bytes_of(std::string_view text) {
  Tokens ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}
Tokens ids_of(const std::string& text) {
  Tokens ids;
  for (const char *p = text.data(), *const end = p + text.size(); p <= end;) {
    std::int32_t id = 0;
    const auto [next, error] = std::from_chars(p, end, id);
    if (error != std::errc() || (next != end && *next != ','))
      throw BadInput(fmt::format("--prompt-ids {}: token ids with commas between them were expected, like 1,2,3", plain(text)));
    ids.push_back(id);
    p = next + 1;
  }
  return ids;
}

std::vector<Tokens> prompts_of(const ModelFlags& flags) {
  std::vector<Tokens> prompts;
  for (const std::string& ids : flags.ids) prompts.push_back(ids_of(ids));
  for (const std::string& text : flags.texts) {
    if (text.empty()) throw BadInput("--prompt-text is empty, and at least one byte was expected");
    prompts.push_back(bytes_of(text));
  }
  return prompts;
}

// The texts of a check: text b has one token less than the text before it, as far as that leaves two to compare.
Texts texts_of(const ModelFlags& flags, std::int64_t vocab, std::int64_t positions) {
  Texts texts{.tokens = {}, .decoded = flags.decoded};
  const std::int64_t longest = std::min(flags.tokens, positions), least = flags.decoded + 2;
  if (longest < least)
    throw BadInput(fmt::format("--tokens: a text of {} tokens, of which {} are decoded, is too short; {} were expected at least",
                               longest, flags.decoded, least));
  std::string text;
  if (!flags.file.empty()) {
    std::string why;
    const auto read = read_file(flags.file, why);
    if (!read) throw BadInput(fmt::format("'{}' cannot be read: {}", flags.file, why));
    text = *read;
    if (static_cast<std::int64_t>(text.size()) < longest * flags.batch)
      throw BadInput(fmt::format("'{}' has {} bytes, and {} texts of {} tokens were expected", flags.file, text.size(),
                                 flags.batch, longest));
  }
  for (std::int64_t b = 0; b < flags.batch; ++b) {
    const auto length = static_cast<std::size_t>(std::max(least, longest - b));
    Tokens tokens =
        text.empty() ? Tokens() : bytes_of(std::string_view(text).substr(static_cast<std::size_t>(b * longest), length));
    const std::uint64_t key = random::key(flags.seed, static_cast<std::uint64_t>(b), random::Purpose::kind);
    while (tokens.size() < length) tokens.push_back(static_cast<std::int32_t>(random::index(key, tokens.size(), vocab)));
    texts.tokens.push_back(std::move(tokens));
  }
  return texts;
}

std::string shown(const Tokens& tokens, bool bytes) {
  if (!bytes) return fmt::format("{}", fmt::join(tokens, ","));
  std::string text;
  for (const std::int32_t id : tokens) text += id == '\n' ? '\n' : plain(std::string(1, static_cast<char>(id)))[0];
  return text;
}

// The golden decoder has no cache: it reads the whole sequence for each token.
std::vector<Tokens> generate_golden(const ModelFlags& flags, const LoadedModel& model, std::vector<Tokens> all) {
  const auto vocab = static_cast<std::size_t>(model.decoder.vocab);
  for (std::size_t b = 0; b < all.size(); ++b)
    for (std::int64_t k = 0; k < flags.tokens; ++k) {
      now_at("the golden decoder");
      const std::vector<double> logits = reference::logits(model.decoder, all[b]);
      const auto draw = static_cast<std::uint64_t>(k) * all.size() + b;
      all[b].push_back(sample(std::span(logits).last(vocab), flags.temperature, flags.seed, draw));
    }
  return all;
}
std::vector<Tokens> generate(const ModelFlags& flags, Engine& engine, std::vector<Tokens> all) {
  std::vector<std::int64_t> sequences;
  for (std::size_t b = 0; b < all.size(); ++b) sequences.push_back(engine.open());
  for (std::int64_t k = 0; k < flags.tokens; ++k) {
    std::vector<NewTokens> news;
    for (std::size_t b = 0; b < all.size(); ++b)
      news.push_back({sequences[b], std::span(all[b]).subspan(static_cast<std::size_t>(engine.length(sequences[b])))});
    if (flags.temperature == 0) {
      const std::vector<std::int32_t> tokens = engine.next(news);
      for (std::size_t b = 0; b < all.size(); ++b) all[b].push_back(tokens[b]);
      continue;
    }
    const std::vector<std::vector<double>> logits = engine.feed(news, false);
    for (std::size_t b = 0; b < all.size(); ++b)
      all[b].push_back(sample(logits[b], flags.temperature, flags.seed, static_cast<std::uint64_t>(k) * all.size() + b));
  }
  return all;
}

void print_wrong(const WrongStep& w, std::size_t more) {
  fmt::print("  first wrong  {}, '{}' of layer {}, {}\n", w.kernel, w.tensor, w.layer, w.pass);
  if (!w.side_effect.empty()) fmt::print("               it {}\n", w.side_effect);
  else
    fmt::print("               {} is {:.7g}, golden {:.7g}, bound {:.3g}; {} of {} elements are wrong\n", w.element, w.c.got,
               w.c.golden, w.c.bound, w.c.wrong, w.c.compared);
  if (more) fmt::print("               and {} outputs of later steps are wrong\n", more);
}

void print_check(const ModelCheck& c) {
  std::int64_t wrong = 0;
  std::pair<double, std::string> worst{0, "none"};
  for (const auto& [kernel, k] : c.kernels)
    if (wrong += k.wrong; k.margin >= worst.first) worst = {k.margin, kernel};
  fmt::print("  steps        {} of {} within their bounds; largest err/bound {:.3g}, {}\n", c.steps - wrong, c.steps, worst.first,
             worst.second);
  if (!c.wrong.empty()) print_wrong(c.wrong.front(), c.wrong.size() - 1);
  if (!c.stopped.empty()) return fmt::print("  stopped      {}\n", c.stopped);
  fmt::print("  logits       largest error {:.3g} of its band, {:.3g} of {:.3g}\n", c.logit_margin, c.logit_error, c.logit_band);
  fmt::print("  tokens       {} of {} likeliest tokens are decided by the golden; {} of these differ, {} of all\n", c.decided,
             c.positions, c.other_decided, c.other_tokens);
  fmt::print("  perplexity   {:.5f}, golden {:.5f}; log differs by {:.2e}, band {:.2e}\n", c.perplexity, c.golden_perplexity,
             c.surprise_error, c.surprise_band);
  std::string drift;
  for (const double d : c.drift) drift += fmt::format("{}{:.2e}", drift.empty() ? "" : "  ", d);
  fmt::print("  drift        {}  (relative error of x behind each layer)\n", drift);
}

// Adds the fields of config.json that were left out, if there are any.
void add_ignored(nlohmann::ordered_json& record, const IgnoredFields& ignored) {
  for (const auto& [field, value] : ignored) record["ignored_fields"][field] = value;
}

void write_check(const std::string& path, const ModelCheck& c, const IgnoredFields& ignored) {
  using Json = nlohmann::ordered_json;
  Json kernels = Json::object();
  for (const auto& [name, k] : c.kernels) kernels[name] = {{"steps", k.steps}, {"wrong", k.wrong}, {"margin", k.margin}};
  Json j = {{"right", c.right()},
            {"stopped", c.stopped},
            {"steps", c.steps},
            {"kernels", kernels},
            {"logit_margin", c.logit_margin},
            {"positions", c.positions},
            {"decided", c.decided},
            {"other_tokens", c.other_tokens},
            {"other_decided", c.other_decided},
            {"perplexity", c.perplexity},
            {"golden_perplexity", c.golden_perplexity},
            {"surprise_error", c.surprise_error},
            {"surprise_band", c.surprise_band},
            {"drift", c.drift}};
  add_ignored(j, ignored);
  if (!c.wrong.empty()) {
    const WrongStep& w = c.wrong.front();
    j["first_wrong"] = {
        {"pass", w.pass},       {"kernel", w.kernel},          {"layer", w.layer}, {"tensor", w.tensor}, {"element", w.element},
        {"margin", w.c.margin}, {"side_effect", w.side_effect}};
  }
  const std::string text = j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  write_whole(path, std::vector<std::string_view>{text});
}

void print_steps(const char* what, const std::vector<StepTime>& steps, double copy_rate) {
  double all = 0;
  for (const StepTime& s : steps) all += s.us;
  fmt::print("    {:<10} {:9.1f} us in all steps, apart\n", what, all);
  for (const StepTime& s : steps)
    fmt::print("      {:<36} {:>10} x{:<3} {:9.1f} us  {:4.0f} % of the time, floor {:3.0f} %\n",
               fmt::format("{}/{}", s.op, s.kernel), s.name, s.count, s.us, 100 * s.us / all,
               100 * s.bytes / copy_rate * 1e6 / s.us);
}

std::vector<DecodeTimes::Kind> recorded(const std::vector<StepTime>& steps) {
  std::vector<DecodeTimes::Kind> all;
  for (const StepTime& s : steps) all.push_back({std::string(s.op), std::string(s.kernel), s.name, s.count, s.us, s.bytes});
  return all;
}

int bench_model(const ModelFlags& flags, const IgnoredFields& ignored, const LoadedModel& model, Engine& engine,
                const KernelChoice& choice, Backend& backend) {
  const double copy_rate = clock_of(backend).copy_rate();
  const TimedDevice device(backend, copy_rate);
  const auto gib = [](std::size_t bytes) { return static_cast<double>(bytes) / 0x1p30; };
  int code = kAllPassed;
  std::string lines = to_json(head_of("cuda")) + "\n";
  fmt::print("  prompt  batch  first token     per token   tokens/s   floor      of     before      needed      memory\n");
  for (const std::int64_t prompt : flags.prompt_lengths)
    for (const std::int64_t batch : flags.batches) {
      if (prompt + flags.tokens > model.decoder.positions) {
        fmt::print("  {:6}  {:5}  left out: the model takes {} positions\n", prompt, batch, model.decoder.positions);
        continue;
      }
      ModelTimes t;
      try {
        t = time_model(model, engine, choice, device, {batch, prompt, flags.tokens, flags.ahead}, flags.seed);
      } catch (const NoMemory& e) {
        fmt::print("  {:6}  {:5}  left out: {}\n", prompt, batch, e.what());
        code = kIncomplete;
        continue;
      }
      fmt::print("  {:6}  {:5}  {:8.2f} ms  {:9.4f} ms  {:9.1f}  {:4.1f} %  {:6.3f} GB  {:5.2f} GiB  {:6.2f} GiB  {:6.2f} GiB\n",
                 prompt, batch, 1e3 * t.first_token_s, 1e3 * t.token_s, t.tokens_s, 100 * t.floor_share(), t.least_bytes / 1e9,
                 gib(device.in_use), gib(t.needed), gib(t.memory));
      if (flags.by_step) {
        print_steps("prompt", t.prompt_steps, copy_rate);
        print_steps("decoding", t.steps, copy_rate);
      }
      std::fflush(stdout);
      const ModelRecord record{.config = flags.config.empty() ? flags.folder : flags.config,
                               .dtype = model.dtype,
                               .ops = flags.ops,
                               .prompt = prompt,
                               .batch = batch,
                               .outputs = flags.tokens,
                               .ahead = flags.ahead,
                               .first_token_s = t.first_token_s,
                               .token_s = t.token_s,
                               .tokens_s = t.tokens_s,
                               .least_bytes = t.least_bytes,
                               .copy_rate = t.copy_rate,
                               .floor_share = t.floor_share(),
                               .needed = t.needed,
                               .memory_before = device.in_use,
                               .memory = t.memory,
                               .prompt_steps = recorded(t.prompt_steps),
                               .steps = recorded(t.steps),
                               .ignored_fields = ignored};
      lines += record_line("model", record) + "\n";
      if (!flags.json.empty()) write_whole(flags.json, std::vector<std::string_view>{lines});
    }
  return code;
}

int run_model(const ModelFlags& flags) {
  std::string backend_name;
  int code = kAllPassed;
  if (!flags.golden && !backend_ready(flags.machine, backend_name, code)) return code;
  if (flags.bench && backend_name != "cuda") throw BadInput("--bench measures times, and backend simt has no clock");
  if (!flags.json.empty()) require_writable(flags.json);
  const ModelConfig config =
      read_config(flags.config.empty() ? flags.folder + "/config.json" : flags.config, flags.ignored_fields);
  // Note: in front of figures on stdout, but not of tokens.
  for (const auto& [field, value] : config.ignored)
    fmt::print(flags.check || flags.bench ? stdout : stderr, "  ignored      '{}' of config.json, which is {}\n", field, value);
  const std::optional<DType> dtype = flags.dtype.empty() ? std::nullopt : parse_dtype(flags.dtype);
  const LoadedModel model = flags.random_weights
                                ? random_model(config, dtype.value_or(bf16), flags.seed)
                                : load_model(config, flags.weights.empty() ? flags.folder : flags.weights, dtype);
  const reference::Decoder& d = model.decoder;
  const bool bytes = !flags.texts.empty();
  if ((bytes || !flags.file.empty()) && d.vocab != 256)
    throw BadInput(fmt::format("{}: the model has {} tokens, and 256, one for each byte, were expected",
                               bytes ? "--prompt-text" : "--text", d.vocab));
  const std::vector<Tokens> prompts = prompts_of(flags);
  std::vector<std::int64_t> lengths;
  for (const Tokens& p : prompts) {
    lengths.push_back(static_cast<std::int64_t>(p.size()) + flags.tokens - 1);
    if (lengths.back() > d.positions)
      throw BadInput(fmt::format("a sequence would have {} positions, and the model takes {}", lengths.back(), d.positions));
    for (const std::int32_t id : p)
      if (id < 0 || id >= d.vocab) throw BadInput(fmt::format("the token {} is not one of 0 to {}", id, d.vocab - 1));
  }
  if (flags.golden) {
    for (const Tokens& t : generate_golden(flags, model, prompts)) fmt::print("{}\n", shown(t, bytes));
    return kAllPassed;
  }

  if (!flags.set.empty()) add_set(flags.set, backend_name);
  const std::unique_ptr<Backend> backend = open_backend(backend_name);
  const Texts texts = flags.check ? texts_of(flags, d.vocab, d.positions) : Texts{};
  for (const Tokens& t : texts.tokens) lengths.push_back(static_cast<std::int64_t>(t.size()));
  const EngineOptions options{.ops = flags.ops == "fused"   ? Ops::fused
                                     : flags.ops == "steps" ? Ops::steps
                                                            : Ops::joined,
                              .pages = flags.pages ? flags.pages : pages_for(lengths, flags.page_size),
                              .page_size = flags.page_size,
                              .prompts_at_once = flags.bench};
  Selection selection;
  selection.datasets = flags.datasets;
  const std::vector<Step> steps = every_step(d, options.ops);
  const KernelChoice choice(flags.kernels, datasets_folder(selection), steps, *backend, model.dtype);
  try {
    if (flags.check) {
      const ModelCheck c = check_model(model, *backend, choice, options, texts, flags.samples, flags.seed);
      print_check(c);
      if (!flags.json.empty()) write_check(flags.json, c, config.ignored);
      fmt::print("{}\n", c.right() ? "right" : "wrong");
      return c.right() ? kAllPassed : kVerdictFailed;
    }
    KernelMachine machine(*backend, choice);
    Engine engine(model, machine, options);
    if (flags.bench) return bench_model(flags, config.ignored, model, engine, choice, *backend);
    for (const Tokens& t : generate(flags, engine, prompts)) fmt::print("{}\n", shown(t, bytes));
    return kAllPassed;
  } catch (const StepFault& e) {
    fmt::print("stopped: {}\nwrong\n", e.what());
    return kVerdictFailed;
  } catch (const OutOfPages& e) {
    throw BadInput(fmt::format("{}; --pages {} would do", e.what(), pages_for(lengths, flags.page_size)));
  }
}

}  // namespace

int model_command(const ModelFlags& flags) {
  return run_apart([&] {
    try {
      return run_model(flags);
    } catch (const Interrupted&) {
      return static_cast<int>(kInterrupted);
    }
  });
}

}  // namespace assay
