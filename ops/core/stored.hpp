// SPDX-License-Identifier: Apache-2.0
// Names in a declaration of numerics: the steps of an op's formula whose results a kernel stores (Numerics::stores), and those
// that it computes the second of two ways (Numerics::ways).
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "ops/core/contract.hpp"

namespace assay {

// Results of a softmax that need no step: exp(x - max), and these divided by their sum, where the op reads on.
inline constexpr std::string_view kExps = "exps", kWeights = "weights";
inline constexpr std::string_view kAllSteps = "all";

// Whether text can be the name of a way, or of a step of its own.
constexpr bool is_name(std::string_view text) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

constexpr bool is_step_name(std::string_view text) {
  return is_name(text) && text != kAllSteps && text != kExps && text != kWeights;
}

// Visits the names of a list, "scores,weights:f16".
template <class Visit>
constexpr void each_name(std::string_view list, Visit&& visit) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    visit(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

// The name of what a list has, "weights" of "weights:f16".
constexpr std::string_view name_of(std::string_view listed) {
  return {listed.begin(), std::find(listed.begin(), listed.end(), ':')};
}

inline void append_name(std::string& list, std::string_view name) {
  if (!list.empty()) list += ',';
  list += name;
}

constexpr bool lists(std::string_view list, std::string_view name) {
  bool found = false;
  each_name(list, [&](std::string_view listed) { found = found || listed == name; });
  return found;
}

// What a list says of a name, as "weights:f16" or "all"; empty: nothing.
constexpr std::string_view said_of(std::string_view list, std::string_view name) {
  std::string_view said;
  each_name(list, [&](std::string_view listed) {
    if (name_of(listed) == name || name_of(listed) == kAllSteps) said = listed;
  });
  return said;
}

// Whether a dtype has every number of another.
constexpr bool holds(DType wide, DType narrow) {
  const FloatFormat &w = info(wide).format, &n = info(narrow).format;
  return w.precision >= n.precision && w.max_exponent >= n.max_exponent && w.min_exponent <= n.min_exponent;
}

// The dtype to which a kernel of these numerics rounds the result of a step before it is read; none: it is read as it is, or is
// stored in a dtype that holds it.  `storage`: the dtype of the case's tensors.
constexpr std::optional<DType> stored_as(const Numerics& numerics, std::string_view step, DType storage) {
  const std::string_view said = said_of(numerics.stores, step);
  if (said.empty()) return {};
  const std::string_view name = name_of(said);
  const DType to = name == said ? storage : parse_dtype(said.substr(name.size() + 1)).value_or(storage);
  return holds(to, numerics.accumulate) ? std::nullopt : std::optional(to);
}

// A list in memory that lasts as long as the program, since declarations hold a view of it.
inline std::string_view lasting(const std::string& list) {
  static std::mutex mutex;
  static std::set<std::string> lists;
  const std::lock_guard lock(mutex);
  return *lists.insert(list).first;
}
// The same list with a name more, or without it.
inline std::string_view with_name(std::string_view list, std::string_view name) {
  std::string more(list);
  append_name(more, name);
  return lasting(more);
}
inline std::string_view without_name(std::string_view list, std::string_view name) {
  std::string less;
  each_name(list, [&](std::string_view listed) {
    if (listed != name) append_name(less, listed);
  });
  return lasting(less);
}

}  // namespace assay
