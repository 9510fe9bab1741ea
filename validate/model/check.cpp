// SPDX-License-Identifier: Apache-2.0
#include "validate/model/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "validate/model/machine/contract_machine.hpp"
#include "validate/model/machine/kernel_machine.hpp"
#include "validate/model/machine/step_fault.hpp"
#include "validate/model/sample.hpp"

namespace assay {

namespace {

using Logits = std::vector<std::vector<double>>;  // by text: [tokens, vocab]

// The row of a pass that holds a token: its text and its position there; text -1: padding.
struct At {
  std::int64_t text, position;
};

// Reads all texts at once.  pass(name, rows) is called before each pass.
template <class OnPass>
Logits read_texts(Engine& engine, const Texts& texts, Observer* observer, OnPass&& pass) {
  std::vector<std::int64_t> sequences;
  for (std::size_t b = 0; b < texts.tokens.size(); ++b) sequences.push_back(engine.open());
  Logits all(texts.tokens.size());
  for (std::int64_t k = 0; k <= texts.decoded; ++k) {
    std::vector<NewTokens> news;
    std::int64_t most = 0;
    for (std::size_t b = 0; b < sequences.size(); ++b) {
      const std::span<const std::int32_t> tokens = texts.tokens[b];
      const auto first = tokens.size() - static_cast<std::size_t>(texts.decoded);
      news.push_back({sequences[b], k == 0 ? tokens.first(first) : tokens.subspan(first + static_cast<std::size_t>(k) - 1, 1)});
      most = std::max(most, static_cast<std::int64_t>(news.back().tokens.size()));
    }
    std::vector<At> rows;
    for (std::size_t b = 0; b < news.size(); ++b)
      for (std::int64_t s = 0; s < most; ++s) {
        const std::int64_t i = s - most + static_cast<std::int64_t>(news[b].tokens.size());
        rows.push_back(i < 0 ? At{-1, 0} : At{static_cast<std::int64_t>(b), engine.length(sequences[b]) + i});
      }
    pass(k == 0 ? "prefill" : fmt::format("decode {}", k), std::move(rows));
    const Logits part = engine.feed(news, true, observer);
    for (std::size_t b = 0; b < part.size(); ++b) all[b].insert(all[b].end(), part[b].begin(), part[b].end());
  }
  for (const std::int64_t sequence : sequences) engine.close(sequence);
  return all;
}

// What the golden says of the texts.
struct Golden {
  Logits logits;
  std::vector<std::vector<std::vector<double>>> streams;  // by text and layer: x behind it, [tokens, hidden]
};
Golden golden_of(const reference::Decoder& d, const Texts& texts) {
  Golden g;
  for (const auto& tokens : texts.tokens) {
    auto& mine = g.streams.emplace_back(d.layers.size());
    g.logits.push_back(reference::logits(d, tokens, [&](std::int64_t layer, std::string_view name, std::span<const double> v) {
      if (name == "x" && layer >= 0) mine[static_cast<std::size_t>(layer)].assign(v.begin(), v.end());
    }));
  }
  return g;
}

// -log p of each token of the texts behind their first.
std::vector<double> surprises(const Logits& logits, const Texts& texts, std::size_t vocab) {
  std::vector<double> all;
  for (std::size_t b = 0; b < logits.size(); ++b)
    for (std::size_t t = 0; t + 1 < texts.tokens[b].size(); ++t)
      all.push_back(surprise(std::span(logits[b]).subspan(t * vocab, vocab), texts.tokens[b][t + 1]));
  return all;
}
double mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum / static_cast<double>(std::max<std::size_t>(1, v.size()));
}

// Element-wise variances of samples.  Note: about their own mean, not about the golden: an error that all samples share, such as
// a wrong position, must not widen the band.
std::vector<double> variances(const std::vector<std::vector<double>>& samples) {
  std::vector<double> all(samples.front().size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    double sum = 0, squares = 0;
    for (const auto& s : samples) sum += s[i];
    const double middle = sum / static_cast<double>(samples.size());
    for (const auto& s : samples) squares += (s[i] - middle) * (s[i] - middle);
    all[i] = squares / static_cast<double>(samples.size() - 1);
  }
  return all;
}

// Standard deviations of the logits' errors.
class Band {
 public:
  Band(const std::vector<Logits>& samples, std::size_t vocab) : token_(vocab, 0) {
    std::size_t rows = 0;
    for (std::size_t b = 0; b < samples.front().size(); ++b) {
      std::vector<std::vector<double>> of_text;
      for (const Logits& s : samples) of_text.push_back(s[b]);
      const std::vector<double> variance = variances(of_text);
      first_.push_back(rows);
      rows += variance.size() / vocab;
      for (std::size_t t = 0; t < variance.size() / vocab; ++t) {
        const double of = mean({variance.begin() + static_cast<std::ptrdiff_t>(t * vocab),
                                variance.begin() + static_cast<std::ptrdiff_t>((t + 1) * vocab)});
        position_.push_back(of);
        for (std::size_t v = 0; v < vocab && of > 0; ++v) token_[v] += variance[t * vocab + v] / of;
      }
    }
    for (double& t : token_) t = std::sqrt(t / static_cast<double>(rows));
    // Note: the errors of a position's logits go together, so few passes may all err little there by chance.
    const double usual = mean(position_);
    for (double& of : position_) of = std::sqrt(std::max(of, usual));
  }
  double of(std::size_t text, std::size_t position, std::size_t token) const {
    return kLambda * position_[first_[text] + position] * token_[token];
  }

 private:
  std::vector<std::size_t> first_;  // of each text: its first position
  std::vector<double> position_, token_;
};

void compare_logits(const Golden& g, const Logits& got, const Band& band, std::size_t vocab, ModelCheck& c) {
  for (std::size_t b = 0; b < got.size(); ++b)
    for (std::size_t t = 0; t < got[b].size() / vocab; ++t) {
      const std::span right = std::span(g.logits[b]).subspan(t * vocab, vocab),
                      mine = std::span(got[b]).subspan(t * vocab, vocab);
      const auto best = static_cast<std::size_t>(greedy(right));
      bool decided = true;
      for (std::size_t v = 0; v < vocab; ++v) {
        const double error = std::fabs(mine[v] - right[v]), allowed = band.of(b, t, v);
        const double margin = error == 0 ? 0 : error / allowed;
        if (!(margin <= c.logit_margin) && !std::isnan(c.logit_margin)) {
          c.logit_margin = margin;
          c.logit_error = error;
          c.logit_band = allowed;
        }
        if (v != best && !(right[best] - right[v] > band.of(b, t, best) + allowed)) decided = false;
      }
      const bool nan = std::any_of(mine.begin(), mine.end(), [](double v) { return std::isnan(v); });
      const bool other = nan || static_cast<std::size_t>(greedy(mine)) != best;
      ++c.positions;
      c.decided += decided;
      c.other_tokens += other;
      c.other_decided += other && decided;
    }
}

}  // namespace

ModelCheck check_model(const LoadedModel& model, Backend& backend, const KernelChoice& choice, const EngineOptions& options,
                       const Texts& texts, int samples, std::uint64_t seed) {
  const reference::Decoder& d = model.decoder;
  const auto vocab = static_cast<std::size_t>(d.vocab);
  ModelCheck c;
  const Golden golden = golden_of(d, texts);

  KernelMachine machine(backend, choice, {.order = 2, .seed = seed});  // shuffled threads: a barrier that is missing shows
  Logits got;
  StepJudge judge(machine, choice);
  std::vector<At> rows;
  std::vector<double> errors(d.layers.size(), 0), sizes(d.layers.size(), 0);
  judge.stored = [&](const Step& step, const std::string& tensor, const Tensor& x) {
    if (tensor != "x" || step.layer < 0) return;
    const auto layer = static_cast<std::size_t>(step.layer);
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::int64_t i = 0; rows[r].text >= 0 && i < d.hidden; ++i) {
        const auto& stream = golden.streams[static_cast<std::size_t>(rows[r].text)][layer];
        const double right = stream[static_cast<std::size_t>(rows[r].position * d.hidden + i)];
        const double error = x.at(static_cast<std::int64_t>(r) * d.hidden + i) - right;
        errors[layer] += error * error;
        sizes[layer] += right * right;
      }
  };
  try {
    Engine engine(model, machine, options);
    got = read_texts(engine, texts, &judge, [&](std::string name, std::vector<At> of) {
      judge.pass(std::move(name));
      rows = std::move(of);
    });
  } catch (const StepFault& e) {
    c.stopped = e.what();
  }
  c.wrong = judge.wrong();
  c.kernels = judge.kernels();
  c.steps = judge.steps();
  for (std::size_t l = 0; l < errors.size(); ++l) c.drift.push_back(std::sqrt(errors[l] / sizes[l]));
  const double golden_surprise = mean(surprises(golden.logits, texts, vocab));
  c.golden_perplexity = std::exp(golden_surprise);
  if (!c.stopped.empty()) return c;

  std::vector<Logits> noisy;
  std::vector<std::vector<double>> surprised, means;
  for (int k = 0; k < samples; ++k) {
    ContractMachine contract(choice, seed + static_cast<std::uint64_t>(k));
    Engine engine(model, contract, options);
    noisy.push_back(read_texts(engine, texts, nullptr, [](const std::string&, const std::vector<At>&) {}));
    surprised.push_back(surprises(noisy.back(), texts, vocab));
    means.push_back({mean(surprised.back())});
  }
  compare_logits(golden, got, Band(noisy, vocab), vocab, c);
  const double surprise = mean(surprises(got, texts, vocab));
  c.perplexity = std::exp(surprise);
  c.surprise_error = std::fabs(surprise - golden_surprise);
  // Note: few samples may have nearly the same mean by chance; its variance is at least that of independent tokens.
  const double independent = mean(variances(surprised)) / static_cast<double>(surprised.front().size());
  c.surprise_band = kLambda * std::sqrt(std::max(variances(means).front(), independent));
  return c;
}

}  // namespace assay
