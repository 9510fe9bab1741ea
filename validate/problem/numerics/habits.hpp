// SPDX-License-Identifier: Apache-2.0
// Habits of kernels that round more than what they declare: words of numerics, each for one usual way to write the code.  If one
// word more would make all wrong outputs of a kernel right, that word is told, since it names the cause.  The verdict stays.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "validate/problem/op.hpp"

namespace assay {

// "cancelling_gelu", "rescales=1", "stores=h": the words, with a usual value, and those for the steps and ways of an op.
std::vector<std::string> habits(const Op&);
// The numerics with such a word too; nothing if they have the word already, or the step among those that they store.
std::optional<Numerics> with_habit(const Numerics&, std::string_view word);

// The words that make all wrong outputs of a kernel right.
class Habits {
 public:
  // Adds a case with wrong outputs, and the words that each make them right, tightest first.
  void add(const std::string& op, const std::string& kernel, const std::vector<std::string>& words);
  // "if it declared `cancelling_gelu`, as would all 12 cases with wrong values: GELU is computed as ..."; empty: no word does it.
  std::string sentence(const std::string& op, const std::string& kernel) const;

 private:
  struct Kernel {
    std::int64_t cases = 0;
    std::vector<std::string> words{};
  };
  std::map<std::pair<std::string, std::string>, Kernel> of_;  // by op and kernel
};

}  // namespace assay
