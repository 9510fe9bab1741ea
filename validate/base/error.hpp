// SPDX-License-Identifier: Apache-2.0
// Errors in a user's input, and suggestions of the nearest valid name.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// A mistake of the user, told in one sentence; the command exits with kBadInput.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The machine has too little memory for a case, which is therefore skipped.
struct NoMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Names = std::vector<std::string_view>;

// The least number of insertions, deletions, substitutions and swaps of neighbours that turn a into b, where no place is edited
// twice (optimal string alignment; Levenshtein 1966, Damerau 1964).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate with the least edit distance from the word, ignoring case; the first on a tie.  Empty if every distance is more
// than half the longer length.
std::string_view nearest(std::string_view word, const Names& candidates);

// "unknown op 'atention'. Did you mean 'attention'?", or a list of the known names if none is near.
std::string unknown(std::string_view kind, std::string_view word, const Names& candidates);

// Runs f; a sentence about what is wrong in a file gets its name, unless that is empty.
template <class F>
auto of_file(const std::string& path, F&& f) {
  try {
    return f();
  } catch (const BadInput& e) {
    throw BadInput(path.empty() ? std::string(e.what()) : "'" + path + "': " + e.what());
  }
}

}  // namespace assay
