// SPDX-License-Identifier: Apache-2.0
// The exit codes of the command; the first that applies is given (docs/judging.md):
//   130  interrupted by a signal, or the reader closed the output
//   2    bad usage, bad input, or an output that cannot be written
//   1    something was shown to be wrong: a bad verdict, a wrong output, a row that is SLOWER
//   3    the evidence is incomplete: nothing was judged, the budget was spent, a case did not fit in memory, a kernel could not
//        be watched, the machine is at fault (no worker starts, the device does not open, memory ran out), or a record file
//        that was read is of a part of its run
//   0    everything requested was judged, and nothing is wrong
// With --partial, incomplete evidence gives 0 instead of 3.
#pragma once

#include <atomic>

namespace assay {

enum ExitCode { kAllPassed = 0, kVerdictFailed = 1, kBadInput = 2, kIncomplete = 3, kInterrupted = 130 };

// Set by the signal handler (SIGINT, SIGTERM, SIGHUP): finish the current record, then stop.
extern std::atomic<bool> stop_requested;

}  // namespace assay
