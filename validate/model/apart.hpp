// SPDX-License-Identifier: Apache-2.0
// A child process for a model: a kernel that crashes ends it, and its parent says which step that was.
#pragma once

#include <functional>
#include <stdexcept>
#include <string_view>

namespace assay {

// The user wants the command to stop.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// Forks.  The child returns what `work` returns and goes on as this process would have; the parent returns its exit code, or
// kVerdictFailed if a signal ended it.  Call it before any other thread is started.
int run_apart(const std::function<int()>& work);
// What the child does now, for its parent.  Throws Interrupted if the command is to stop.
void now_at(std::string_view what);

}  // namespace assay
