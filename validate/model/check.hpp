// SPDX-License-Identifier: Apache-2.0
// Checks a model as kernels compute it against the golden decoder: every step by its contract, logits, greedy tokens and
// perplexity within a band.
//
// A bound of a logit's error that holds for all roundings is hopeless, since every norm and softmax amplifies what comes in.  So
// the band is measured: the pass is computed several times by ContractMachine, where each step errs at random as much as its
// contract lets the chosen kernel err.  The error of logit v at position t then has the standard deviation position[t] *
// token[v], each the rms over the other, position[t] at least that over all positions; a kernel's logit may differ from the
// golden's by kLambda of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "validate/model/step_judge.hpp"

namespace assay {

// Texts that a model reads: of each, all tokens but the last `decoded` are one prefill, the others one pass each.
struct Texts {
  std::vector<std::vector<std::int32_t>> tokens;
  std::int64_t decoded = 0;
};

struct ModelCheck {
  std::string stopped;  // why a step could not be run to its end; empty: all were
  std::vector<WrongStep> wrong{};
  std::map<std::string, KernelSteps> kernels{};
  std::int64_t steps = 0;
  std::vector<double> drift{};                       // by layer: rms error of x relative to the golden's rms
  double logit_margin = 0;                           // largest error of a logit in units of its band
  double logit_error = 0, logit_band = 0;            // of that logit
  std::int64_t positions = 0;                        // all
  std::int64_t decided = 0;                          // where the golden's best logit leads every other by more than both bands
  std::int64_t other_tokens = 0, other_decided = 0;  // where the greedy token differs; of those, where it is decided
  double perplexity = 0, golden_perplexity = 0;
  double surprise_error = 0, surprise_band = 0;  // of the mean of -log p

  bool logits_right() const { return logit_margin <= 1; }
  bool tokens_right() const { return other_decided == 0; }
  bool perplexity_right() const { return surprise_error <= surprise_band; }
  bool right() const { return stopped.empty() && wrong.empty() && logits_right() && tokens_right() && perplexity_right(); }
};

// `samples`: passes from which the band is measured.
ModelCheck check_model(const LoadedModel&, Backend&, const KernelChoice&, const EngineOptions&, const Texts&, int samples,
                       std::uint64_t seed);

}  // namespace assay
