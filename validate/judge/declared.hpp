// SPDX-License-Identifier: Apache-2.0
// Whether kernels declare more errors than they make.  A looser declaration gives a wider bound, in which a fault can hide.  Over
// a whole run this looks, for each kernel, for
//   spare words    words of its numerics, and of the steps that it stores each, without which every output would have passed too,
//                  though the bound would have been less than two thirds in some place.  All of them together: the declaration
//                  without them is the tightest that fits the run.  Left out are words for the order of a sum (chain, rescales,
//                  mma_terms), since no data shows an order.
//   spare error    the largest rms error of a case in f32, in units of what the oracle predicts with these numerics.  Far below 1
//                  it says that the chain of the sums, or the error of a function, is declared too large.  In f16 and bf16 the
//                  rounding of the output hides this.
// Both are told, and change no verdict: the cases of a run may lack what shows that a word is needed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "validate/problem/op.hpp"
#include "validate/records/lines.hpp"

namespace assay {

class Declared {
 public:
  // Looks at a passed record.  `margin`: err/bound of the record's outputs with these numerics; above 1 they fail.  Thread-safe.
  void look(const Kernel&, const Record&, const std::function<double(const Numerics&)>& margin);
  // Of kernels whose declaration is looser than what they did, sorted by op and kernel.
  std::vector<DeclaredLine> looser() const;

 private:
  struct Seen {
    std::mutex mutex{};
    Numerics declared{};
    std::vector<std::string> spare{};
    std::int64_t cases = 0, f32_cases = 0;
    double most_error = 0, narrower = 1;
  };
  Seen& seen(const Kernel&);

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Seen> kernels_;  // by op and name
};

// Whether a declaration has the same chain and all words of another, or sums in a narrower format, and so no narrower bound.
// Words that stand for another way to compute, whose errors are others, must be the same
// (reference/tests/formula_words_test.cpp).
bool allows_more(const Numerics& loose, const Numerics& tight);

// Where no formula says which words are read: those without which some bound differs.
Numerics words_that_differ(const Numerics& n, const std::function<bool(const Numerics&, const Numerics&)>& differ);

// The first declaration of a list, from tight to loose, that all outputs of a kernel have met: a hint for who has to write
// one, and no verdict.  The list says nothing of the order of a sum, since no data shows an order.  Only words that the op's
// formula reads are told.
class Suggested {
 public:
  // Looks at a record with outputs, also wrong ones.  `words_read`: the numerics with only the words that the op reads; empty:
  // they have no bounds.  `meets`: whether the outputs pass with these.  It is asked only where no declaration that allows less
  // (allows_more) has been met.  Thread-safe.
  void look(const Kernel&, const Record&, const std::function<bool(const Numerics&)>& meets,
            const std::function<std::optional<Numerics>(const Numerics&)>& words_read);
  std::vector<SuggestedLine> lines() const;  // sorted by op and kernel

 private:
  struct Met {
    Numerics suggested{};
    std::vector<std::string> read{};  // of its words, those that the op has read in some case
  };
  struct Seen {
    std::mutex mutex{};
    std::vector<Met> met{};  // of the list, those that all outputs have met
    std::int64_t cases = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Seen> kernels_;  // by op and name
};

std::string text_of(const SuggestedLine&);  // one clause

}  // namespace assay
