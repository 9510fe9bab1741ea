// SPDX-License-Identifier: Apache-2.0
// A worker: the process in which candidates run, since a fault ends a process's trust.  It is the same program, started
// by exec with `worker BACKEND`.
#pragma once

#include <functional>
#include <memory>

#include "validate/worker/backend.hpp"

namespace assay {

// Serves orders until the socket closes.  Returns the process's exit code.
int serve(const std::function<std::unique_ptr<Backend>()>& open_backend);

}  // namespace assay
