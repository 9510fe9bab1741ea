// SPDX-License-Identifier: Apache-2.0
// How a process ends.
#pragma once

#include <atomic>

namespace assay {

enum ExitCode { kAllPassed = 0, kVerdictFailed = 1, kBadInput = 2, kNothingRun = 3 };

// Set by Ctrl-C and by a kill: finish the record at hand and stop.
extern std::atomic<bool> stop_requested;

}  // namespace assay
