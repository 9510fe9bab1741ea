// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/declared.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "validate/problem/numerics_text.hpp"

namespace assay {

namespace {

Numerics without(Numerics n, std::span<const std::size_t> words) {
  for (const std::size_t w : words) numerics_words()[w].omit(n);
  return n;
}

}  // namespace

Declared::Seen& Declared::seen(const Kernel& k) {
  const std::lock_guard lock(mutex_);
  const auto [at, fresh] = kernels_.try_emplace({std::string(k.op), std::string(k.name)});
  Seen& s = at->second;
  if (!fresh) return s;
  s.declared = k.numerics;
  for (std::size_t w = 0; w < numerics_words().size(); ++w)
    if (numerics_words()[w].omit && without(s.declared, {&w, 1}) != s.declared) s.spare.push_back(w);
  return s;
}

void Declared::look(const Kernel& kernel, const Record& r, const std::function<double(const Numerics&)>& margin) {
  // Note: nobody here can change what a library declares; of_output hides what its steps declare.
  if (r.compared == 0 || is_vendor(kernel) || kernel.numerics.of_output || !kernel.declares_numerics) return;
  Seen& s = seen(kernel);
  const std::lock_guard lock(s.mutex);
  ++s.cases;
  if (r.rms_ratio && r.c.dtype == DType::f32) ++s.f32_cases, s.most_error = std::max(s.most_error, *r.rms_ratio);
  if (s.spare.empty()) return;
  double all = margin(without(s.declared, s.spare));
  if (!(all <= 1)) {
    std::erase_if(s.spare, [&](std::size_t w) { return !(margin(without(s.declared, {&w, 1})) <= 1); });
    while (!s.spare.empty() && !((all = margin(without(s.declared, s.spare))) <= 1)) s.spare.pop_back();
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
                      .fits = text_of(without(s.declared, s.spare)),
                      .f32_cases = s.f32_cases,
                      .most_error = s.most_error,
                      .narrower = s.narrower};
    for (const std::size_t w : s.spare) line.spare.emplace_back(numerics_words()[w].word);
    if (line.words_spare() || line.error_spare()) all.push_back(std::move(line));
  }
  return all;
}

std::string to_json(const DeclaredLine& l) {
  nlohmann::ordered_json j{{"record", "declared"}, {"op", l.op},       {"kernel", l.kernel}, {"numerics", l.numerics},
                           {"cases", l.cases},     {"spare", l.spare}, {"fits", l.fits}};
  if (l.f32_cases > 0) j["most_error"] = l.most_error;
  return j.dump();
}

}  // namespace assay
