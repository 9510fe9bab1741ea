// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/declared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "ops/core/stored.hpp"
#include "validate/problem/numerics/numerics_text.hpp"

namespace assay {

namespace {

// From tight to loose.  Each says what a usual way to write a kernel rounds beyond sums in f32.
constexpr const char* kOfAnyOp[] = {
    "accumulate=f32 chain=1",
    // approximate quotients, roots and exponents
    "accumulate=f32 chain=1 exponent_error=2 quotient_error=2.2 root_error=2.2 fused_exponent flushes_subnormals",
    // formulas that cancel
    "accumulate=f32 chain=1 cancelling_gelu tanh_sigmoid fused_exponent folded_affine running_moments",
    // an online softmax
    "accumulate=f32 chain=1 rescales=1 flushes_subnormals",
    // tensor cores, then with an online softmax
    "accumulate=f32 chain=1 mma_terms=8", "accumulate=f32 chain=1 mma_terms=8 rescales=1 quotient_error=2.2 flushes_subnormals"};
// With steps that are stored.
constexpr const char* kStoring[] = {"accumulate=f32 chain=1", "accumulate=f32 chain=1 mma_terms=8",
                                    "accumulate=f32 chain=1 mma_terms=8 rescales=1 quotient_error=2.2 flushes_subnormals"};
constexpr const char* kLoosest[] = {
    // every step as a framework runs it
    "accumulate=f32 chain=1 mma_terms=8 stores=all cancelling_gelu", "accumulate=f32 chain=1 factors=tf32 mma_terms=8",
    "accumulate=f16 chain=1", "accumulate=bf16 chain=1"};

// What kernels of the op may store: a step or two, or all; and what they then may compute in another way.
std::vector<std::string> stored_together(const Op& op) {
  const std::vector<FormulaStep>& steps = op.formula.steps;
  std::vector<std::string> words;
  for (const FormulaStep& step : steps) words.push_back("stores=" + step.name);
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (std::size_t j = i + 1; j < steps.size(); ++j) words.push_back("stores=" + steps[i].name + "," + steps[j].name);
  if (!steps.empty()) words.emplace_back("stores=all");
  for (const std::string& way : op.formula.ways) words.push_back("stores=all ways=" + way);
  return words;
}

std::vector<Numerics> suggestions(const Op& op) {
  std::vector<Numerics> all;
  for (const char* text : kOfAnyOp) all.push_back(numerics_from(text));
  for (const std::string& words : stored_together(op))
    for (const char* text : kStoring) all.push_back(numerics_from(fmt::format("{} {}", text, words)));
  for (const char* text : kLoosest) all.push_back(numerics_from(text));
  return all;
}

// The words of a declaration that are not at their default: "flushes_subnormals", and of a list each name, "stores=h".
std::vector<std::string> words_of(const Numerics& n) {
  std::vector<std::string> said;
  for (const NumericsWord& w : numerics_words())
    if (w.list) each_name(n.*w.list, [&](std::string_view name) { said.push_back(fmt::format("{}={}", w.word, name)); });
    else if (w.value(n) != w.value({})) said.emplace_back(w.word);
  return said;
}
// Of such a word of a list the name.
std::string_view name_in(std::string_view word) { return word.substr(word.find('=') + 1); }

// A declaration with only these of its words, and those that every text has.
Numerics with_only(const Numerics& n, std::span<const std::string> words) {
  Numerics only{.accumulate = n.accumulate, .chain = n.chain};
  for (const std::string_view word : words) {
    const NumericsWord& known = word_of(word);
    if (known.list) only.*known.list = with_name(only.*known.list, name_in(word));
    else known.read(known.value(n), only);
  }
  return only;
}
Numerics without(Numerics n, std::span<const std::string> words) {
  for (const std::string_view word : words) {
    const NumericsWord& known = word_of(word);
    if (known.list) n.*known.list = without_name(n.*known.list, name_in(word));
    else known.omit(n);
  }
  return n;
}

// The words without which a declaration is another.
std::vector<std::string> words_to_omit(const Numerics& n) {
  std::vector<std::string> words = words_of(n);
  std::erase_if(words, [&](const std::string& word) {
    const NumericsWord& known = word_of(word);
    return !known.list && (!known.omit || without(n, {&word, 1}) == n);
  });
  return words;
}

// Each stands for another way to compute.
constexpr bool Numerics::*kOtherWays[] = {&Numerics::cancelling_gelu, &Numerics::tanh_sigmoid, &Numerics::folded_affine,
                                          &Numerics::running_moments};

}  // namespace

bool allows_more(const Numerics& loose, const Numerics& tight) {
  const bool same_way = std::ranges::all_of(kOtherWays, [&](bool Numerics::*way) { return loose.*way == tight.*way; });
  return same_way && loose.ways == tight.ways && loose.chain == tight.chain &&
         std::ranges::all_of(words_of(tight), [&](std::string_view word) {
           const NumericsWord& known = word_of(word);
           if (!known.list) return known.value(loose) == known.value(tight);
           return lists(loose.*known.list, name_in(word)) || lists(loose.*known.list, kAllSteps);
         });
}

Numerics words_that_differ(const Numerics& n, const std::function<bool(const Numerics&, const Numerics&)>& differ) {
  const std::vector<std::string> said = words_of(n);
  std::vector<std::string> read;
  for (const std::string& w : said) {
    std::vector<std::string> others = said;
    std::erase(others, w);
    if (differ(n, with_only(n, others))) read.push_back(w);
  }
  return with_only(n, read);
}

Declared::Seen& Declared::seen(const Kernel& k) {
  const std::lock_guard lock(mutex_);
  const auto [at, fresh] = kernels_.try_emplace({std::string(k.op), std::string(k.name)});
  Seen& s = at->second;
  if (!fresh) return s;
  s.declared = k.numerics;
  s.spare = words_to_omit(s.declared);
  return s;
}

void Declared::look(const Kernel& kernel, const Record& r, const std::function<double(const Numerics&)>& margin) {
  // Note: nobody here can change what a library declares; of_output hides what its steps declare.
  if (r.compared == 0 || is_vendor(kernel) || kernel.numerics.of_output || !kernel.declares_numerics) return;
  Seen& s = seen(kernel);
  const std::lock_guard lock(s.mutex);
  ++s.cases;
  if (r.rms_ratio && r.c.dtype == DType::f32) {
    ++s.f32_cases;
    s.most_error = std::max(s.most_error, *r.rms_ratio);
  }
  if (s.spare.empty()) return;
  double all = margin(without(s.declared, s.spare));
  if (!(all <= 1)) {
    std::erase_if(s.spare, [&](const std::string& w) { return !(margin(without(s.declared, {&w, 1})) <= 1); });
    while (!s.spare.empty()) {
      all = margin(without(s.declared, s.spare));
      if (all <= 1) break;
      s.spare.pop_back();
    }
    s.narrower = 1;  // of words that are kept now
  }
  if (r.margin && *r.margin > 0) s.narrower = std::max(s.narrower, all / *r.margin);
}

std::vector<DeclaredLine> Declared::looser() const {
  const std::lock_guard lock(mutex_);
  std::vector<DeclaredLine> all;
  for (const auto& [key, s] : kernels_) {
    DeclaredLine line{.op = key.first,
                      .kernel = key.second,
                      .numerics = text_of(s.declared),
                      .cases = s.cases,
                      .spare = s.spare,
                      .fits = text_of(without(s.declared, s.spare)),
                      .f32_cases = s.f32_cases,
                      .most_error = s.most_error,
                      .narrower = s.narrower};
    if (line.words_spare() || line.error_spare()) all.push_back(std::move(line));
  }
  return all;
}

void Suggested::look(const Kernel& k, const Record& r, const std::function<bool(const Numerics&)>& meets,
                     const std::function<std::optional<Numerics>(const Numerics&)>& words_read) {
  if (r.compared == 0) return;
  std::unique_lock lock(mutex_);
  const auto [at, fresh] = kernels_.try_emplace({std::string(k.op), std::string(k.name)});
  Seen& s = at->second;
  if (fresh)
    for (const Numerics& n : suggestions(*find_op(k.op))) s.met.push_back({n, {}});
  lock.unlock();
  const std::lock_guard own(s.mutex);
  ++s.cases;
  std::vector<Numerics> met, missed;  // in this case
  std::erase_if(s.met, [&](Met& m) {
    // Note: a word that the op does not read may yet excuse a kernel from exact answers, so it is left out.
    const std::optional<Numerics> read = words_read(m.suggested);
    if (!read || std::ranges::find(missed, *read) != missed.end()) return true;
    if (std::ranges::none_of(met, [&](const Numerics& tighter) { return allows_more(*read, tighter); })) {
      if (!meets(*read)) {
        missed.push_back(*read);
        return true;
      }
      met.push_back(*read);
    }
    for (const std::string& w : words_of(*read))
      if (std::ranges::find(m.read, w) == m.read.end()) m.read.push_back(w);
    return false;
  });
}

std::vector<SuggestedLine> Suggested::lines() const {
  const std::lock_guard lock(mutex_);
  std::vector<SuggestedLine> all;
  for (const auto& [key, s] : kernels_)
    all.push_back(
        {key.first, key.second, s.met.empty() ? "" : text_of(with_only(s.met.front().suggested, s.met.front().read)), s.cases});
  return all;
}

std::string text_of(const SuggestedLine& l) {
  const std::string cases = l.cases == 1 ? "this case" : fmt::format("all {} cases", l.cases);
  if (l.numerics.empty()) return fmt::format("no usual declaration fits {}", cases);
  return fmt::format("`{}` is the tightest usual declaration that fits {}; no verdict", l.numerics, cases);
}

}  // namespace assay
