// SPDX-License-Identifier: Apache-2.0
// Reruns and shrinks a failing case.  Reruns with its seed and with two others give it a label.  Then it is made smaller, axis by
// axis, as long as it fails in the same way.  The verdict of the case does not change.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "validate/judge/judge.hpp"
#include "validate/records/lines.hpp"

namespace assay {

// Whether a record with this verdict can be shrunk.
inline bool can_shrink(const Record& r) {
  // Note: a smaller case needs a fill, which tensors that were given do not have.
  return r.given.empty() && (r.verdict == Verdict::failed || r.verdict == Verdict::crashed || r.verdict == Verdict::timeout);
}

// Shrinks by judging cases in worker processes, for about `seconds`.  `options`: those of the run that failed.  `before`: the
// cases of the kernel that the run judged before it, which went to the same process.  If the case passes alone, it is tried after
// the last 1, 2, 4, ... 64 of them.
Shrunk shrink(const Record& failed, std::span<const Case> before, const JudgeOptions& options, double seconds);

// The search itself.  `trials` judges cases in order.  It calls wanted(index) before each, and judged(index, record) after each;
// for a case that is not wanted, judged() gets a skipped record or is not called.
using TryCases = std::function<void(std::span<const Case>, const std::function<bool(std::size_t)>& wanted,
                                    const std::function<void(std::size_t, const Record&)>& judged)>;
Shrunk shrink(const Record& failed, const OpShape& op, const Kernel& kernel, const TryCases& trials);

// The kind of a failure; two failures of one kind count as the same fault.  Empty if the record cannot be shrunk.
std::string failure_kind(const Record& r);
// "seq_q=1000 heads=8 fill=ramp": the values in `from` that differ in `to`.
std::string difference(const Case& from, const Case& to, const OpShape& op);

}  // namespace assay
