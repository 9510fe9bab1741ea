// SPDX-License-Identifier: Apache-2.0
// The calls of the system that a worker may not make, refused by seccomp.
#pragma once

namespace assay {

// Profiles of the sandbox (SECURITY.md).
enum class Confined {
  kernels,  // our own worker without a GPU
  program   // another program, or our own worker on a GPU: it may write to the device nodes, and a program to its own folder
};

// Whether the system has filters, and this program knows its calls.
bool has_seccomp();

// What Landlock does not do here, so that the filter has to.
struct LeftToFilter {
  bool signals, writing, network;
};

// How this process and all that it will start are filtered from now on.
enum class Filtered { not_at_all, alone, by_judge };  // by_judge: calls that need a look are decided by the judge (AskedCalls)
Filtered filter_calls(Confined, const LeftToFilter&);

}  // namespace assay
