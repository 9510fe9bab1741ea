// SPDX-License-Identifier: Apache-2.0
// What a run says besides its cases: faults that no bound rejected, declarations that are loose or would fit, failing cases made
// smaller.  Each is a record (validate/records/fields/line_fields.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "validate/records/record.hpp"

namespace assay {

inline constexpr std::string_view kZerosFault = "zeros";  // of PowerLine::fault: every element is a zero

// A fault of a kernel and a dtype (validate/judge/power.hpp).
struct PowerLine {
  std::string op, kernel;
  DType dtype = DType::f32;
  std::string fault;
  std::int64_t tried = 0;   // cases whose output the fault changes, until one rejected it
  std::string rejected_by;  // repro line of the case that rejected it; empty: none did
  bool powerless() const { return rejected_by.empty(); }
};

// A kernel that may declare more than it needs (validate/judge/declared.hpp).
struct DeclaredLine {
  std::string op, kernel;
  std::string numerics;              // as declared
  std::int64_t cases = 0;            // that were passed and had something to compare
  std::vector<std::string> spare{};  // words that none of them needs
  std::string fits{};                // the numerics without these words
  std::int64_t f32_cases = 0;        // with an rms ratio
  double most_error = 0;             // the largest of these ratios
  double narrower = 1;               // the most by which err/bound grows in a case without them
  bool words_spare() const { return !spare.empty() && cases >= 32 && narrower > 1.5; }
  bool error_spare() const { return f32_cases >= 16 && most_error < 0.5; }
};

// The first declaration of a short list that all outputs of a kernel have met.
struct SuggestedLine {
  std::string op, kernel;
  std::string numerics;    // empty: none of the list is met by all cases
  std::int64_t cases = 0;  // that had something to compare
};

// A failing case, run again and made smaller (validate/judge/shrink.hpp).
struct Shrunk {
  std::string of;     // repro line of the failing case
  std::string label;  // "deterministic", "racy", "seed-specific" or "needs earlier calls"; empty: not rerun
  struct Reruns {
    std::int64_t run = 0, failed = 0;  // failed: in the same way
  };
  Reruns same_seed, other_seeds;
  std::optional<Record> smallest;  // nullopt: no smaller case that was tried fails in the same way
  std::vector<std::string> after;  // repro lines of cases that must be judged before, in the same process, for it to fail
  std::int64_t tried = 0;          // number of smaller cases that were tried
  double seconds = 0;
};

std::string to_json(const PowerLine&);
std::string to_json(const DeclaredLine&);
std::string to_json(const SuggestedLine&);
std::string to_json(const Shrunk&);

}  // namespace assay
