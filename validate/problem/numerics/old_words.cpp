// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/numerics/old_words.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "ops/core/stored.hpp"

namespace assay {

namespace {

constexpr std::array kOldWords{"stores_intermediate", "stores_every_step", "narrow_probabilities",
                               "scaled_gradients",    "rounds_weights",    "rounds_rotated"};

// Which steps of an op a word stored.
struct OldWord {
  std::string_view op, word, stores;
};
constexpr OldWord kStored[] = {{"attention_backward", "stores_intermediate", "p,ds"},
                               {"attention_backward", "narrow_probabilities", "p_of_dv,ds"},
                               {"attention_forward", "stores_intermediate", "scores,weights"},
                               {"attention_forward", "narrow_probabilities", "exps"},
                               {"attention_forward", "rounds_rotated", "rotated"},
                               {"attention_scores", "stores_intermediate", "scores,exps"},
                               {"ffn_gelu", "stores_intermediate", "z,h"},
                               {"ffn_gelu", "stores_every_step", "before_b1,before_b2"},
                               {"ffn_gelu", "narrow_probabilities", "h"},
                               {"gelu_linear", "stores_intermediate", "z"},
                               {"gelu_linear", "stores_every_step", "before_bias"},
                               {"gemm_swiglu", "stores_intermediate", "gate,up"},
                               {"gemm_swiglu", "stores_every_step", "s"},
                               {"layernorm_linear", "stores_intermediate", "n"},
                               {"layernorm_linear", "stores_every_step", "before_bias"},
                               {"layernorm_linear", "rounds_weights", "pivoted,scaled_weight"},
                               {"layernorm_residual", "stores_intermediate", "normalised"},
                               {"linear", "stores_intermediate", "before_bias"},
                               {"paged_attention", "stores_intermediate", "scores,weights"},
                               {"paged_attention", "narrow_probabilities", "exps"},
                               {"residual_rmsnorm", "stores_intermediate", "xhat"},
                               {"rmsnorm", "stores_intermediate", "xhat"},
                               {"rmsnorm_gemm", "stores_intermediate", "n"},
                               {"rmsnorm_gemm", "rounds_weights", "scaled_weight"},
                               {"silu_mul", "stores_intermediate", "s"},
                               {"softmax", "stores_intermediate", "exps"}};

// What an op's formula has that is not among these, every step of it.
std::string_view steps_of(std::string_view op, std::string_view word) {
  const auto is_of_op = [op](const OldWord& w) { return w.op == op; };
  const auto at = std::ranges::find_if(kStored, [&](const OldWord& w) { return is_of_op(w) && w.word == word; });
  if (at != std::end(kStored)) return at->stores;
  return word == kOldWords.front() && std::ranges::none_of(kStored, is_of_op) ? kAllSteps : std::string_view{};
}

}  // namespace

std::string with_new_words(std::string_view text, std::string_view op) {
  std::vector<std::string_view> old;
  std::string rest;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string_view word = text.substr(start, end - start);
    const bool is_old = std::ranges::find(kOldWords, word) != kOldWords.end();
    if (is_old) old.push_back(word);
    else rest += std::string(word) + ' ';
    start = end + 1;
  }
  if (old.empty()) return std::string(text);

  const auto says = [&](std::string_view word) { return std::ranges::find(old, word) != old.end(); };
  std::vector<std::string_view> steps;
  for (const std::string_view word : old)
    each_name(steps_of(op, word), [&](std::string_view step) {
      if (says("scaled_gradients") && step == "ds") step = "scaled_ds";
      if (std::ranges::find(steps, step) == steps.end()) steps.push_back(step);
    });
  // A step that was stored already was not rounded again.
  const auto replaces = [&](std::string_view first, std::string_view then) {
    if (std::ranges::find(steps, first) != steps.end()) std::erase(steps, then);
  };
  replaces("weights", "exps");
  replaces("p", "p_of_dv");
  std::string stores;
  for (const std::string_view step : steps) append_name(stores, step);
  if (!stores.empty()) rest += "stores=" + stores;
  if (op == "layernorm_linear" && says("rounds_weights")) rest += " ways=folded";
  return rest;
}

}  // namespace assay
