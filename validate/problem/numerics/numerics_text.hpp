// SPDX-License-Identifier: Apache-2.0
// A declaration of numerics as text: "accumulate=f32 chain=32+5 stores=scores,weights".
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ops/core/contract.hpp"

namespace assay {

// What a word without a value has.
inline constexpr std::string_view kYes = "yes";

// A word of a declaration, a field of Numerics.
struct NumericsWord {
  std::string_view word;
  std::string_view meaning;                 // what the code of a kernel does that declares it
  std::string_view code;                    // such code
  std::string (*value)(const Numerics& n);  // "f32"; a bool's word stands alone, with the value "yes"; empty: the default
  bool (*read)(std::string_view value, Numerics& n);  // false: no value of this word
  void (*omit)(Numerics& n) = nullptr;                // takes the word back, which narrows the bound; null: cannot be omitted
  std::string_view Numerics::*list = nullptr;  // where the value is a list of names, each of which can be omitted on its own
};

// All words, in the order in which they are written.
std::span<const NumericsWord> numerics_words();
// That of a text such as "rescales=1", which must be one.
const NumericsWord& word_of(std::string_view text);

// The word by which a declaration claims an error of a function above 1 % of its value, with that share: "quotient_error=8000000
// (48 %)".  No hardware's function errs by so much, and a bound with it lets faults pass.  Empty: none does.
std::string claims_too_much(const Numerics&);

// accumulate and chain, and all words that are not at their default.
std::string text_of(const Numerics& n);

// Reads such a text; words that are missing have their default.  Throws BadInput, naming the word, or the step that the op's
// formula does not have.  `op`: empty, or one that is not known, if it is not said of which.
Numerics numerics_from(std::string_view text, std::string_view op = {});

}  // namespace assay
