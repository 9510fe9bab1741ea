// SPDX-License-Identifier: Apache-2.0
// A failing case, tried again and made smaller.  It is rerun with its seed and with two others, which labels it, and cut down
// axis by axis to a smallest case that still fails in the same way.  The verdict of the case itself stays what it is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "validate/judge/judge.hpp"

namespace assay {

struct Shrunk {
  std::string of;     // repro line of the failing case
  std::string label;  // deterministic, racy, seed-specific; empty: it was not rerun
  struct Reruns {
    std::int64_t run = 0, failed = 0;  // failed: in the same way
  };
  Reruns same_seed, other_seeds;
  std::optional<Record> smallest;  // none: no smaller case that was tried fails in the same way
  std::int64_t tried = 0;          // smaller cases
  double seconds = 0;
};

// Whether there is something to shrink.
inline bool can_shrink(const Record& r) {
  return r.verdict == Verdict::failed || r.verdict == Verdict::crashed || r.verdict == Verdict::timeout;
}

// Spends about so many seconds in worker processes as a run does; `options` as of that run.
Shrunk shrink(const Record& failed, const JudgeOptions& options, double seconds);

// The search itself.  `trials` judges cases in order; it asks `wanted` before each and hands over what it judged, both by the
// case's place in the list.
using TryCases = std::function<void(std::span<const Case>, const std::function<bool(std::size_t)>& wanted,
                                    const std::function<void(std::size_t, const Record&)>& judged)>;
Shrunk shrink(const Record& failed, const OpShape& op, const Kernel& kernel, const TryCases& trials);

// How a record failed: two of one kind are taken for the same fault.
std::string failure_kind(const Record& r);
// "seq_q=1000 heads=8 fill=ramp": what the first case has otherwise than the second.
std::string difference(const Case& from, const Case& to, const OpShape& op);

std::string to_json(const Shrunk& s);

}  // namespace assay
