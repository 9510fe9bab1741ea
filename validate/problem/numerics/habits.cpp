// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/numerics/habits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ops/core/stored.hpp"
#include "validate/problem/numerics/numerics_text.hpp"

namespace assay {

namespace {

constexpr std::string_view kHabits[] = {
    "cancelling_gelu",    "tanh_sigmoid",   "flushes_subnormals", "flushes_storage", "exponent_error=2",
    "quotient_error=2.2", "root_error=2.2", "fused_exponent",     "folded_affine",   "running_moments",
    "rescales=1",         "mma_terms=8",    "stores=all",         "angle_error=33",  "reduced_angle_error=2",
    "factors=tf32",       "factors=bf16",   "accumulate=f16",     "accumulate=bf16"};

}  // namespace

std::vector<std::string> habits(const Op& op) {
  std::vector<std::string> all(std::begin(kHabits), std::end(kHabits));
  for (const FormulaStep& step : op.formula.steps) all.push_back("stores=" + step.name);
  for (const std::string& way : op.formula.ways) all.push_back("ways=" + way);
  return all;
}

std::optional<Numerics> with_habit(const Numerics& n, std::string_view word) {
  const NumericsWord& known = word_of(word);
  const std::size_t equals = word.find('=');
  const std::string_view value = equals == word.npos ? kYes : word.substr(equals + 1);
  Numerics with = n;
  if (known.list) {
    if (!said_of(n.*known.list, value).empty()) return {};
    with.*known.list = value == kAllSteps ? kAllSteps : with_name(n.*known.list, value);
  } else {
    if (known.value(n) != known.value({})) return {};  // Note: every text has the dtype of sums.
    known.read(value, with);
  }
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
