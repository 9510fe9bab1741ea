// SPDX-License-Identifier: Apache-2.0
// A worker: the process in which candidates run, so that a crash or a hang does not end the judge.  It is the same program,
// started as `validate worker BACKEND`.
#pragma once

#include <functional>
#include <memory>

#include "validate/worker/backend.hpp"

namespace assay {

// Serves orders until the socket closes.  Returns the process's exit code, 0 or kSocketLost.
int serve(const std::function<std::unique_ptr<Backend>()>& open_backend);

}  // namespace assay
