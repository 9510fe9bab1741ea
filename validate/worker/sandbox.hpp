// SPDX-License-Identifier: Apache-2.0
// What a worker may not do to the machine: it writes no file, signals nobody outside, changes no other process, has no network
// and no other means to reach the judge or the kernels of another worker.  Made of Landlock and seccomp, as far as the system has
// them.  SECURITY.md says what is left.
#pragma once

#include <string>
#include <string_view>

#include "validate/worker/call_filter.hpp"

namespace assay {

// Of our own worker on a backend.
Confined confined_on(const std::string& backend);

// Confines this process and all that it will start, for good.  `folder`: of a program, where it may write.  Without the means, or
// if the sandbox is left out, it does nothing.  Returns whether what sandbox_text() tells holds now.
[[nodiscard]] bool confine(Confined, const std::string& folder = {});

// What confine() does here, in the words of a record: "landlock 7, seccomp"; "off: ..." says why it does nothing.
std::string sandbox_text(Confined);

// In all processes that this one will start: leaves the sandbox out (--no-sandbox), or lets programs use the network (--network).
void leave_out_sandbox();
void give_network();

// Whether a worker in the sandbox gets this variable of the environment: what finds and tunes programs and libraries, unless its
// name tells of a secret, and what pass_on() names (--pass-env).  That throws BadInput if it is no variable.
bool is_passed(std::string_view variable);
void pass_on(const std::string& variable);

}  // namespace assay
