// SPDX-License-Identifier: Apache-2.0
// How a process ends.  The first of these that applies is its exit code:
//   130  it was interrupted, by Ctrl-C, a kill, or a reader that closed the output
//   2    bad usage, bad input, or an output that cannot be written
//   1    something was shown to be wrong: a bad verdict, a wrong output, a row that is SLOWER
//   3    the evidence is incomplete: nothing was judged, the budget was spent, a case was left out for its memory, a kernel
//        could not be watched, or the machine is at fault (no worker starts, the device does not open, memory ran out)
//   0    all that was asked for was judged, and nothing is wrong
// --partial accepts incomplete evidence: 0 in place of 3.
#pragma once

#include <atomic>

namespace assay {

enum ExitCode { kAllPassed = 0, kVerdictFailed = 1, kBadInput = 2, kIncomplete = 3, kInterrupted = 130 };

// Set by Ctrl-C and by a kill: finish the record at hand and stop.
extern std::atomic<bool> stop_requested;

}  // namespace assay
