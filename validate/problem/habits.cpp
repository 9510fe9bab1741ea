// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/habits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "validate/problem/numerics_text.hpp"

namespace assay {

namespace {

constexpr std::string_view kHabits[] = {
    "cancelling_gelu",    "tanh_sigmoid",   "flushes_subnormals",  "flushes_storage",       "exponent_error=2",
    "quotient_error=2.2", "root_error=2.2", "fused_exponent",      "folded_affine",         "running_moments",
    "rescales=1",         "mma_terms=8",    "stores_intermediate", "stores_every_step",     "narrow_probabilities",
    "scaled_gradients",   "rounds_weights", "rounds_rotated",      "reduced_angle_error=2", "angle_error=33",
    "factors=tf32",       "factors=bf16",   "accumulate=f16",      "accumulate=bf16"};

const NumericsWord& word_of(std::string_view habit) {
  const std::string_view name = habit.substr(0, habit.find('='));
  return *std::find_if(numerics_words().begin(), numerics_words().end(), [&](const NumericsWord& w) { return w.word == name; });
}

}  // namespace

std::span<const std::string_view> habits() { return kHabits; }

std::optional<Numerics> with_habit(const Numerics& n, std::string_view word) {
  const NumericsWord& known = word_of(word);
  // Note: every text has the dtype of sums.
  if (known.value(n) != known.value({})) return {};
  const std::size_t equals = word.find('=');
  Numerics with = n;
  known.read(equals == word.npos ? "yes" : word.substr(equals + 1), with);
  return with;
}

void Habits::add(const std::string& op, const std::string& kernel, const std::vector<std::string>& words) {
  const auto [at, fresh] = of_.try_emplace({op, kernel});
  Kernel& k = at->second;
  if (fresh) k.words = words;
  std::erase_if(k.words, [&](const std::string& w) { return std::find(words.begin(), words.end(), w) == words.end(); });
  ++k.cases;
}

std::string Habits::sentence(const std::string& op, const std::string& kernel) const {
  const auto at = of_.find({op, kernel});
  if (at == of_.end() || at->second.words.empty()) return {};
  const auto& [cases, words] = at->second;
  return fmt::format("if it declared `{}`{}: {}", words.front(),
                     cases > 1 ? fmt::format(", as would all {} cases with wrong values", cases) : "",
                     word_of(words.front()).meaning);
}

}  // namespace assay
