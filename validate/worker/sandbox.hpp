// SPDX-License-Identifier: Apache-2.0
// What a worker may not do to the machine: it writes no file, signals nobody outside, and has no other means to reach the judge
// or the kernels of another worker.  Made of Landlock and seccomp, as far as the system has them.  SECURITY.md says what is left.
#pragma once

#include <string>

namespace assay {

// How a worker is confined: one of ours on a GPU is not; one of ours elsewhere; another program, which may write to a folder of its
// own and to a GPU's device nodes, and starts processes as it likes.
enum class Confined { no, kernels, program };

// Of our own worker on a backend.
Confined confined_on(const std::string& backend);

// Confines this process and all that it will start, for good.  `folder`: of a program, where it may write.  Without the means, or
// if the sandbox is left out, it does nothing.
void confine(Confined, const std::string& folder = {});

// What confine() does here, in the words of a record: "landlock 7, seccomp"; "off: ..." says why it does nothing.
std::string sandbox_text(Confined);

// Leaves the sandbox out in all processes that this one will start (--no-sandbox).
void leave_out_sandbox();

}  // namespace assay
