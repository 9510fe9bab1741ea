// SPDX-License-Identifier: Apache-2.0
// What a person typed or wrote is wrong: one sentence that names the thing and, where there is one, the nearest right
// name.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Names = std::vector<std::string_view>;

// The least number of insertions, deletions, substitutions and swaps of neighbours that make b of a, no place edited twice
// (optimal string alignment; Levenshtein 1966, Damerau 1964).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate with the least edit distance, capitals aside, the first of equals; empty where none shares enough with the word
// to be worth a question.
std::string_view nearest(std::string_view word, const Names& candidates);

// "unknown op 'atention'. Did you mean 'attention'?", or the known names where none is near.
std::string unknown(std::string_view kind, std::string_view word, const Names& candidates);

}  // namespace assay
